// The head of a column: its name, which sorts the rows, its type, and what its values are like.

import { change, listed } from "./asking.js";
import { h } from "./dom.js";
import { summary } from "./summary.js";

const UNSORTED = ["image", "audio", "video", "json", "list", "chat", "bytes"];
const WIDTHS = {
  integer: 110,
  number: 130,
  bool: 90,
  bytes: 120,
  label: 150,
  time: 190,
  image: 140,
  audio: 270,
  video: 160,
};
const WIDE = 320;
const LETTER = 8.5;
const BESIDE_NAME = 36; // room around it, and for the arrow
const WIDEST_FOR_NAME = 210;
const WIDE_ON_PHONES = 210;
const ORDERS = { up: "ascending", down: "descending" };
const ARROWS = { up: " ↑", down: " ↓" };

// Wide enough for the values, and for a name that is not very long.
export function width({ kind, name }) {
  const named = Math.min(name.length * LETTER + BESIDE_NAME, WIDEST_FOR_NAME);
  return Math.max(WIDTHS[kind] || (innerWidth < 700 ? WIDE_ON_PHONES : WIDE), named);
}

export function header(column, path, question, signal, rows) {
  const { name, kind, type } = column;
  const order = orderOf(name, question.sort);
  return h(
    "th",
    { className: `kind-${kind}`, scope: "col", "aria-sort": ORDERS[order] || "none" },
    UNSORTED.includes(kind)
      ? h("span", { className: "name", text: name, title: name })
      : sorter(name, order, question.sort),
    h("span", { className: "type", text: type, title: type }),
    summary(path, question, column, signal, rows),
  );
}

function orderOf(name, sort = "") {
  const names = sort.split(",");
  return names.includes(listed(name)) ? "up" : names.includes(`-${listed(name)}`) ? "down" : null;
}

// The first click sorts up, the second down, the third not at all; with Shift, after the columns that sort already.
function sorter(name, order, sort = "") {
  const wanted = { up: `-${listed(name)}`, down: "" }[order] ?? listed(name);
  const others = sort.split(",").filter((each) => each.replace(/^-/, "") !== listed(name));
  const click = (event) =>
    change({ sort: [...(event.shiftKey ? others : []), wanted].filter(Boolean).join(","), row: null });
  const arrow = h("span", { className: "arrow", "aria-hidden": "true", text: ARROWS[order] || "" });
  const title = `sort by ${name}; with Shift, after the others`;
  return h("button", { type: "button", className: "name", title, onclick: click }, name, arrow);
}
