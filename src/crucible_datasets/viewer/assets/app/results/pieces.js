// Parts that the pages of runs share.

import { withQuery } from "../asking.js";
import { h, visible } from "../dom.js";
import { themeButton } from "../theme.js";
import { differenceChart } from "../../report/charts.js";
import { dot, number, probability, score } from "../../report/dom.js";
import { sortedTable } from "../../report/tables.js";

export const KINDS = {
  all: "all",
  fixed: "fixed",
  broken: "broken",
  both_right: "right",
  both_wrong: "wrong",
  uncounted: "uncounted",
  differing: "differing",
  unparsed: "unparsed",
};
const ABOUT = {
  fixed: "wrong in the first run, right in the last",
  broken: "right in the first run, wrong in the last",
  both_right: "right in the first run and the last",
  both_wrong: "wrong in the first run and the last",
  uncounted: "no value in the first run or the last: missing, left out or failed",
  differing: "not the same in all runs",
  unparsed: "no answer could be read in one run or more",
};

const part = (text) => encodeURIComponent(text);
export const runsPage = (id, query = {}) => withQuery(`/results/${part(id)}`, query);
export const runPage = (id, run) => `/results/${part(id)}/run/${part(run)}`;
export const comparePage = (id, query) => withQuery(`/results/${part(id)}/compare`, query);
export const samplePage = (id, sample, query) => withQuery(`/results/${part(id)}/sample/${part(sample)}`, query);

export function bar(title, ...more) {
  return h(
    "header",
    { className: "bar" },
    h("a", { className: "brand", href: "/", title: "Everything that is open", text: "Crucible" }),
    h("h1", { text: title }),
    more,
    h("span", { className: "gap" }),
    themeButton(),
  );
}

export const section = (title, note, ...children) =>
  h("section", {}, h("h2", { text: title }), note && h("p", { className: "about", text: note }), children);

export const namesOf = (runs) =>
  runs.map((run, at) => (runs.some((other, place) => place !== at && other.model === run.model)
    ? `${run.model} (${run.run})`
    : run.model));

// What a run is called, with its colour in the charts of the page.
export const modelCell = (id, run, at, name = run.model) =>
  h("span", { className: "model" }, at === null ? null : dot(at), h("a", { href: runPage(id, run.run), text: name }));

export const scored = (one) => (one ? score(one.value, one.share) : "–");

export function interval(one) {
  if (!one || typeof one.low !== "number") return "–";
  return `${score(one.low, one.share)} – ${score(one.high, one.share)}`.replace(" % –", " –");
}

export const metricsOf = (runs) => [...new Set(runs.flatMap((run) => Object.keys(run.scores)))];

export function differenceTable(rows, shares) {
  const ends = rows.flatMap((row) => [row.difference, row.low, row.high]).filter((one) => typeof one === "number");
  const reach = Math.max(...ends.map(Math.abs), 0);
  const points = (row, value) => {
    if (value === null || value === undefined) return "–";
    return (value > 0 ? "+" : "") + (shares[row.metric] ? (100 * value).toFixed(1) : number(value));
  };
  const spelled = (row) => `[${points(row, row.low)}, ${points(row, row.high)}]`;
  const between = (row) => (typeof row.low === "number" ? spelled(row) : "–");
  const columns = [
    { title: "metric", value: (row) => row.metric },
    { title: "model", value: (row) => row.a },
    { title: "against", value: (row) => row.b },
    { title: "difference", number: true, value: (row) => row.difference, cell: (row) => points(row, row.difference) },
    { title: "interval", number: true, value: (row) => row.low, cell: between },
    { title: "", kind: "chart", value: (row) => row.difference, cell: (row) => differenceChart(row, reach) },
    { title: "p", number: true, value: (row) => row.p, cell: (row) => probability(row.p) },
    { title: "adjusted p", number: true, value: (row) => row.p_adjusted, cell: (row) => probability(row.p_adjusted) },
    { title: "n", number: true, value: (row) => row.n },
  ];
  return h("div", { id: "differences" }, sortedTable(rows, columns).node);
}

// How many samples are of which kind; a kind that is chosen filters the list below.
export function kindButtons(kinds, chosen, choose) {
  const button = (kind) =>
    h("button", {
      type: "button",
      className: `kind ${kind}`,
      "aria-pressed": String(kind === chosen),
      title: ABOUT[kind] || "every sample",
      text: `${KINDS[kind]} ${kinds[kind] || 0}`,
      "data-kind": kind,
      onclick: () => choose(kind),
    });
  const shown = Object.keys(KINDS).filter((kind) => kind !== "uncounted" || kinds[kind]);
  return h("div", { className: "kinds", role: "group", "aria-label": "which samples" }, shown.map(button));
}

export const pressed = (place, kind) => {
  for (const button of place.querySelectorAll(".kind")) {
    button.setAttribute("aria-pressed", String(button.dataset.kind === kind));
  }
};

export const asText = (value) =>
  visible(typeof value === "string" ? value : value === null || value === undefined ? "" : JSON.stringify(value));
