// Charts: a dot for a score, a line for its interval.

import { number, score, series, svg, el, visible } from "./dom.js";

const ROW = 30, LETTER = 8, TICK = 40; // pixels of a row, of a letter at most, between two ticks at least

/** Where things are in a chart of some width: names at the left, numbers at the right, marks between them. */
function frame(width) {
  const label = Math.min(250, 0.3 * width), right = Math.max(140, Math.min(170, 0.36 * width));
  const ticks = Math.max(1, Math.min(6, Math.floor((width - label - right) / TICK)));
  return { width, label, right, ticks, letters: Math.floor((label - 14) / LETTER) };
}

function ticks(low, high, most) {
  const span = high - low || 1;
  const power = 10 ** Math.floor(Math.log10(span / most));
  const step = [1, 2, 5, 10, 20].map((one) => one * power).find((one) => span / one <= most);
  const found = [];
  for (let at = Math.ceil(low / step - 1e-9) * step; at <= high + step * 1e-9; at += step) found.push(at);
  return found;
}

function bounds(rows, isShare) {
  const ends = rows.flatMap((row) => [row.value, row.low, row.high]).filter((one) => typeof one === "number");
  if (!ends.length) return [0, 1];
  const low = Math.min(...ends), high = Math.max(...ends);
  const margin = (high - low || Math.abs(high) || 1) * 0.08;
  const wide = [low - margin, high + margin];
  return isShare ? [Math.max(0, wide[0]), Math.min(1, wide[1])] : wide;
}

/** Scores below each other, drawn again for every width, so that letters keep their size. */
export function intervalChart(rows, isShare, about) {
  const place = el("div", { class: "scores" }, drawn(rows, isShare, about, 1000));
  new ResizeObserver(([seen]) => {
    const width = Math.max(280, Math.round(seen.contentRect.width));
    if (seen.contentRect.width && place.dataset.width !== String(width)) {
      place.dataset.width = width;
      place.replaceChildren(drawn(rows, isShare, about, width));
    }
  }).observe(place);
  return place;
}

/** Rows of {name, series, value, low, high}. */
function drawn(rows, isShare, about, width) {
  const at = frame(width);
  const [low, high] = bounds(rows, isShare);
  const place = (value) => at.label + ((value - low) / (high - low || 1)) * (width - at.label - at.right);
  const height = rows.length * ROW + 34;
  const chart = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": visible(about) });
  for (const tick of ticks(low, high, at.ticks)) {
    const x = place(tick);
    chart.append(svg("line", { class: "grid", x1: x, x2: x, y1: 6, y2: height - 24 }));
    chart.append(svg("text", { class: "soft", x, y: height - 8, "text-anchor": "middle" }, isShare ? number(100 * tick, 1).replace(/\.0$/, "") + " %" : number(tick, 2)));
  }
  rows.forEach((one, index) => chart.append(chartRow(one, 6 + ROW * (index + 0.5), place, isShare, at)));
  return chart;
}

/** Names of groups and of runs begin alike, and names of models in them end alike: both ends are kept. */
function shortened(name, letters) {
  const kept = letters - 1;
  return name.length > letters ? `${name.slice(0, Math.ceil(kept / 2))}…${name.slice(-Math.floor(kept / 2))}` : name;
}

function chartRow(one, y, place, isShare, { width, label, right, letters }) {
  const name = shortened(one.name, letters);
  const group = svg("g", {}, svg("title", {}, one.name), svg("text", { x: label - 14, y: y + 4.5, "text-anchor": "end" }, name));
  if (typeof one.value !== "number") return group;
  const marks = svg("g", { class: series(one.series) });
  if (typeof one.low === "number") {
    marks.append(svg("line", { x1: place(one.low), x2: place(one.high), y1: y, y2: y, "stroke-width": 3, opacity: 0.45 }));
    for (const end of [one.low, one.high]) marks.append(svg("line", { x1: place(end), x2: place(end), y1: y - 5, y2: y + 5, "stroke-width": 2, opacity: 0.6 }));
  }
  marks.append(svg("circle", { cx: place(one.value), cy: y, r: 5.5 }));
  const said = typeof one.low === "number" ? ` [${score(one.low, isShare)}, ${score(one.high, isShare)}]`.replaceAll(" %", "") : "";
  group.append(marks, svg("text", { x: width - right + 12, y: y + 4.5 }, score(one.value, isShare), svg("tspan", { class: "soft" }, said)));
  return group;
}

/** A difference in a cell of a table, on a scale that all rows share. */
export function differenceChart(row, reach) {
  const place = (value) => 100 + (value / (reach || 1)) * 92;
  const sure = row.low > 0 || row.high < 0;
  const chart = svg("svg", { viewBox: "0 0 200 22", role: "img", "aria-label": "difference with its interval" });
  chart.append(svg("line", { class: "zero", x1: 100, x2: 100, y1: 1, y2: 21 }));
  const marks = svg("g", { class: sure ? "s0" : "s7" });
  if (typeof row.low === "number") marks.append(svg("line", { x1: place(row.low), x2: place(row.high), y1: 11, y2: 11, "stroke-width": 3, opacity: 0.5 }));
  marks.append(svg("circle", { cx: place(row.difference), cy: 11, r: 4.5 }));
  chart.append(marks);
  return chart;
}
