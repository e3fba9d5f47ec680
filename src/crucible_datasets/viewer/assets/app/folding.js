// Long values are folded: their beginning, and a button for the rest.

import { count, h } from "./dom.js";

const MOST_LINES = 24;
const MOST_CHARACTERS = 1_600;

const isLong = (text) => text.length > MOST_CHARACTERS || text.split("\n", MOST_LINES + 1).length > MOST_LINES;

export function folded(text, node) {
  if (!isLong(text)) return node;
  const all = `show all ${count(text.length)} characters`;
  const button = h("button", { type: "button", className: "unfold", text: all, "aria-expanded": "false" });
  const place = h("div", { className: "folded" }, h("div", { className: "fold" }, node), button);
  button.addEventListener("click", () => {
    const open = place.classList.toggle("open");
    button.setAttribute("aria-expanded", String(open));
    button.textContent = open ? "fold" : all;
    if (!open) place.scrollIntoView({ block: "nearest" });
  });
  return place;
}
