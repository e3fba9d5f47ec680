// What the values of a column are like, in its header: a picture of them first, all figures when it is opened.

import { ask, asked, change } from "./asking.js";
import { count, h, replace, short, svg } from "./dom.js";

const WIDTH = 120;
const HEIGHT = 26;
const PATIENCE = [300, 700, 1500, 3000, 6000, 12000, 24000];
const LONGEST_WORD = 200;
const MOST_NAMES = 20;
const FILTERED = ["text", "integer", "bool"];

// It waits until rows are there, which people came for, and until the column is in sight.
export function summary(path, question, column, signal, rows) {
  const card = h("div", {
    className: "card",
    popover: "auto",
    role: "dialog",
    "aria-label": `values of ${column.name}`,
  });
  const button = h("button", { type: "button", className: "summary", "aria-label": `values of ${column.name}` });
  button.popoverTargetElement = card;
  card.addEventListener("toggle", () => stand(card, button));
  const { sort, seed, columns, ...rest } = question;
  const look = async (tries) => {
    try {
      const facts = await ask(`${path}/summary`, { ...rest, column: column.name }, signal);
      replace(button, picture(facts), h("span", { className: "figures", text: glance(facts) }));
      button.dataset.done = facts.done;
      replace(card, told(facts, column));
      if (!facts.done && tries < PATIENCE.length) setTimeout(() => signal.aborted || look(tries + 1), PATIENCE[tries]);
    } catch (error) {
      if (error.name !== "AbortError") replace(button, h("span", { className: "figures wrong", text: error.message }));
    }
  };
  const sight = new IntersectionObserver((changes) => {
    if (!changes.some((each) => each.isIntersecting)) return;
    sight.disconnect();
    rows.then(() => look(0));
  });
  sight.observe(button);
  signal.addEventListener("abort", () => sight.disconnect());
  return [button, card];
}

// Below its button, and within the window.
function stand(card, button) {
  const at = button.getBoundingClientRect();
  card.style.left = `${Math.max(Math.min(at.left, innerWidth - card.offsetWidth - 8), 8)}px`;
  card.style.top = `${at.bottom + 4}px`;
}

// Texts of which there are few are names of something; their lengths say nothing.
const isFew = (facts) => facts.kind === "text" && facts.distinct && facts.distinct <= MOST_NAMES;
const shapeOf = (facts) => (facts.histogram ? facts : facts.lengths);

function picture(facts) {
  if (facts.top && (isFew(facts) || !shapeOf(facts)))
    return bars(
      facts.top.map(([, number]) => number),
      "shares",
    );
  return histogram(facts);
}

// Values that are all the same have no shape.
function histogram(facts) {
  const shape = shapeOf(facts);
  return shape?.histogram && shape.min < shape.max ? bars(shape.histogram.counts) : null;
}

function bars(counts, kind = "") {
  const most = Math.max(...counts, 1);
  const wide = WIDTH / counts.length;
  const bar = (number, index) => {
    const height = number ? Math.max((number / most) * HEIGHT, 1) : 0;
    return svg("rect", { x: index * wide, width: Math.max(wide - 1, 0.5), y: HEIGHT - height, height });
  };
  const box = { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" };
  return svg("svg", { class: `bars ${kind}`, ...box }, counts.map(bar));
}

const UNITS = { text: "character", list: "item", chat: "turn" };

function range(facts) {
  const shape = shapeOf(facts);
  if (!shape || shape.min === null) return null;
  const ends = shape.min === shape.max ? short(shape.min) : `${short(shape.min)} – ${short(shape.max)}`;
  if (!facts.lengths) return ends;
  const unit = UNITS[facts.kind];
  return `${ends} ${unit ? `${unit}${shape.max === 1 ? "" : "s"}` : "long"}`;
}

function glance(facts) {
  const different = facts.distinct ? `${count(facts.distinct)} different` : null;
  const first = isFew(facts) ? different : range(facts) || different;
  return [first, facts.nulls ? `${count(facts.nulls)} null` : null].filter(Boolean).join(", ");
}

function told(facts, column) {
  const shape = shapeOf(facts);
  const lines = [
    [facts.done ? "rows" : "rows so far", count(facts.seen)],
    ["null", count(facts.nulls)],
    facts.distinct && ["different", count(facts.distinct)],
    shape && [facts.lengths ? "length" : "values", range(facts)],
    shape && ["on average", short(shape.mean)],
  ];
  return [
    h("b", { text: column.name }),
    h(
      "dl",
      {},
      lines.filter(Boolean).map(([name, value]) => [h("dt", { text: name }), h("dd", { text: value })]),
    ),
    histogram(facts),
    facts.top &&
      h(
        "ol",
        { className: "top" },
        facts.top.map((each) => share(each, facts, column)),
      ),
  ];
}

function share([value, number], facts, column) {
  const name = value === "" ? "empty" : String(value);
  const part = h("span", {
    className: "part",
    text: `${count(number)} · ${((100 * number) / facts.seen).toFixed(1)} %`,
  });
  const canAsk = FILTERED.includes(column.kind) && name.length < LONGEST_WORD;
  const only = () => change({ where: joined(asked().where, equals(column, value)), row: null });
  const button = canAsk && h("button", { type: "button", title: "only these rows", text: name, onclick: only });
  return h("li", {}, button || h("span", { text: name }), part);
}

const quoted = (text, sign) => `${sign}${text.replaceAll(sign, sign + sign)}${sign}`;
const equals = ({ name, kind }, value) => `${quoted(name, '"')} = ${kind === "text" ? quoted(value, "'") : value}`;
const joined = (before, now) => (before ? `(${before}) and ${now}` : now);
