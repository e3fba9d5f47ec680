// Nested values as a tree that opens where it is looked at.

import { h } from "./dom.js";
import { isMedia, media } from "./media.js";

const OPEN_DEPTH = 2;
const MOST_OPEN = 50;
const SHORT = 60;

export const isLabel = (value) => value.t === "label" && Object.keys(value).sort().join() === "name,t,v";

export function tree(value, depth = 0, name = null) {
  if (value === null || typeof value !== "object") return leaf(value);
  if (isMedia(value)) return media(value);
  if (isLabel(value)) return h("span", { className: "label", text: value.name ?? value.v });
  const entries = Object.entries(value);
  if (!entries.length) return h("span", { className: "null", text: Array.isArray(value) ? "[]" : "{}" });
  if (isRowOfLeaves(value)) return row(value);
  const place = h("details", { className: "tree", open: depth < OPEN_DEPTH && entries.length <= MOST_OPEN });
  const branch = ([key, each]) => {
    const node = tree(each, depth + 1, key);
    return h("li", {}, node.localName === "details" ? node : [h("b", { text: `${key}: ` }), node]);
  };
  const list = () => h("ul", {}, entries.map(branch));
  const size = Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`;
  place.append(h("summary", {}, name !== null && h("b", { text: `${name}: ` }), size));
  if (place.open) place.append(list());
  else place.addEventListener("toggle", () => place.children.length > 1 || place.append(list()));
  return place;
}

// A few short things are read more quickly in one line.
const isRowOfLeaves = (value) =>
  Array.isArray(value) && value.every((each) => typeof each !== "object") && JSON.stringify(value).length <= SHORT;

const row = (values) =>
  h(
    "span",
    { className: "leaves" },
    "[",
    values.map((each, index) => [index ? ", " : null, leaf(each)]),
    "]",
  );

function leaf(value) {
  if (value === null) return h("span", { className: "null", text: "null" });
  const isText = typeof value === "string";
  return h("span", { className: isText ? "string" : "figure", text: isText ? JSON.stringify(value) : String(value) });
}
