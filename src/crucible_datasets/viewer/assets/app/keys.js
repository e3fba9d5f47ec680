// What keys do on the page of a dataset, and the list of them.

import { asked, change } from "./asking.js";
import { h } from "./dom.js";
import { closeMenus } from "./menus.js";

const PAGE = 12;

// Each: the keys, what they do, and how.
const KEYS = [
  [["ArrowDown", "j"], "the next row", (page) => move(page, 1)],
  [["ArrowUp", "k"], "the row before", (page) => move(page, -1)],
  [["PageDown"], "further down", (page) => move(page, PAGE)],
  [["PageUp"], "further up", (page) => move(page, -PAGE)],
  [["Home"], "the first row", (page) => page.table.scrollTo(0)],
  [["End"], "the last row", (page) => page.table.scrollTo(page.facts.num_rows - 1)],
  [["Enter"], "open the row", (page) => page.table.open()],
  [["Escape"], "close the row", (page) => change({ row: null })],
  [["c"], "copy the open row as JSON", (page) => page.side.querySelector(".copy")?.click()],
  [["/"], "search", (page) => focus(page, "q")],
  [["f"], "filter", (page) => focus(page, "where")],
  [["g"], "go to a row", (page) => focus(page, "row")],
  [["?"], "these keys", () => help()],
];
const NAMES = { ArrowDown: "↓", ArrowUp: "↑", PageDown: "Page ↓", PageUp: "Page ↑", Escape: "Esc" };

const move = (page, by) => page.table.move(by, asked().row !== undefined);

function focus(page, name) {
  const input = page.bar.querySelector(`input[name=${name}]`);
  input.focus();
  input.select();
}

export function press(event, page) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open], :popover-open")) return;
  if (event.target.closest("input, textarea, select")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (event.target.closest("button, summary, a, audio, video") && [" ", "Enter"].includes(event.key)) return;
  if (event.key === "Escape") closeMenus();
  const found = KEYS.find(([names]) => names.includes(event.key));
  if (!found || !page.table) return;
  event.preventDefault();
  found[2](page);
}

export const helpButton = () =>
  h("button", { type: "button", text: "?", className: "keys", title: "keys", "aria-label": "keys", onclick: help });

function help() {
  const line = ([names, does]) => [
    h(
      "dt",
      {},
      names.map((name) => h("kbd", { text: NAMES[name] || name })),
    ),
    h("dd", { text: does }),
  ];
  const dialog = h("dialog", { className: "help" }, h("h2", { text: "Keys" }), h("dl", {}, KEYS.map(line)));
  dialog.append(h("button", { type: "button", text: "close", onclick: () => dialog.close() }));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
