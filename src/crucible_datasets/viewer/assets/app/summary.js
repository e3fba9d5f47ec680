// What the values of a column are like, in its header: a picture of them, and figures when it is pointed at.

import { ask } from "./asking.js";
import { count, h, replace, short, svg } from "./dom.js";

const WIDTH = 120;
const HEIGHT = 26;
const PATIENCE = [300, 700, 1500, 3000, 6000, 12000];

export function summary(path, question, column, signal) {
  const place = h("div", { className: "summary" });
  const { sort, seed, columns, ...rest } = question;
  const look = async (tries) => {
    try {
      const facts = await ask(`${path}/summary`, { ...rest, column: column.name }, signal);
      replace(place, picture(facts), figures(facts));
      place.title = told(facts);
      if (!facts.done && tries < PATIENCE.length) setTimeout(() => signal.aborted || look(tries + 1), PATIENCE[tries]);
    } catch {
      replace(place);
    }
  };
  look(0);
  return place;
}

function picture(facts) {
  const shape = facts.histogram || facts.lengths?.histogram;
  if (shape) return bars(shape.counts);
  if (facts.top) return bars(facts.top.map(([, number]) => number), "shares");
  return null;
}

function bars(counts, kind = "") {
  const most = Math.max(...counts, 1);
  const wide = WIDTH / counts.length;
  return svg("svg", { class: `bars ${kind}`, viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" }, counts.map((number, index) => svg("rect", { x: index * wide, width: Math.max(wide - 1, 0.5), y: HEIGHT - (number ? Math.max((number / most) * HEIGHT, 1) : 0), height: number ? Math.max((number / most) * HEIGHT, 1) : 0 })));
}

function figures(facts) {
  const shape = facts.histogram ? facts : facts.lengths;
  const range = shape ? `${short(shape.min)} – ${short(shape.max)}${facts.lengths ? " long" : ""}` : facts.distinct !== null && facts.distinct !== undefined ? `${count(facts.distinct)} different` : "";
  return h("span", { className: "figures", text: [range, facts.nulls ? `${count(facts.nulls)} null` : ""].filter(Boolean).join(", ") });
}

function told(facts) {
  const lines = [`${count(facts.seen)} rows${facts.done ? "" : " so far"}`, `${count(facts.nulls)} null`];
  if (facts.distinct !== null) lines.push(`${count(facts.distinct)} different values`);
  const shape = facts.histogram ? facts : facts.lengths;
  if (shape) lines.push(`${facts.lengths ? "lengths" : "values"} from ${short(shape.min)} to ${short(shape.max)}, ${short(shape.mean)} on average`);
  if (facts.top) lines.push(...facts.top.map(([value, number]) => `${value}: ${count(number)}`));
  return lines.join("\n");
}
