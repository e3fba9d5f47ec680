// Menus of the page of a dataset: which columns are shown, and the rows as a file.

import { change, listed, withQuery } from "./asking.js";
import { h } from "./dom.js";

const FILES = ["jsonl", "csv", "parquet"];

export const menu = (name, ...children) =>
  h("details", { className: "menu", name: "menu" }, h("summary", { text: name }), h("div", {}, children));

export function columnMenu({ columns, shown }) {
  const names = columns.map((each) => each.name);
  const show = (wanted) =>
    wanted.length &&
    change({ columns: wanted.length === names.length ? null : wanted.map(listed).join(",") }, { stay: true });
  const line = ({ name, type }) => {
    const toggle = (event) =>
      show(names.filter((each) => (each === name ? event.target.checked : shown.includes(each))));
    const box = h("input", {
      type: "checkbox",
      name: `column ${name}`,
      checked: shown.includes(name),
      onchange: toggle,
    });
    return h(
      "label",
      {},
      box,
      h("span", { className: "column", text: name }),
      h("span", { className: "quiet", text: type }),
    );
  };
  const all = h("button", { type: "button", text: "all columns", onclick: () => show(names) });
  return menu("columns", shown.length < names.length && all, columns.map(line));
}

export function downloadMenu(path, question) {
  const file = (kind, text = `these rows as ${kind}`, more = {}) =>
    h("a", { href: withQuery(`${path}/download.${kind}`, { ...question, ...more }), download: `rows.${kind}`, text });
  // Texts that a spreadsheet would take for formulas get an apostrophe, unless somebody wants them as they are.
  const raw = file("csv", "csv, texts unchanged", { formula_safe: false });
  return menu("download", FILES.map((kind) => file(kind)), raw);
}

// A click beside an open menu closes it, as does Escape.
export function closeMenus(except = null) {
  for (const each of document.querySelectorAll("details.menu[open]")) if (!each.contains(except)) each.open = false;
}
addEventListener("click", (event) => closeMenus(event.target));
