// Tables that are sorted by their headings, filtered by words and shown page by page.

import { el, visible } from "./dom.js";

const PAGE = 25;

function compared(a, b) {
  if (a === b) return 0;
  if (a === null || a === undefined || a === "") return 1;
  if (b === null || b === undefined || b === "") return -1;
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), "en", { numeric: true });
}

/**
 * columns: {title, value(row), cell(row) → Node or text, number}; options: {kept(row), opened(row, rows), empty}.
 * Gives {node, refresh, rows}.
 */
export function sortedTable(rows, columns, options = {}) {
  const state = { by: null, down: false, page: 0, shown: [] };
  const heads = columns.map((column, index) =>
    el("th", { class: column.number ? "number" : null, scope: "col", "aria-sort": "none" },
      el("button", { type: "button", onclick: () => sortBy(index) }, column.title)));
  const body = el("tbody", {});
  const pages = el("div", { class: "pages" });
  const node = el("div", {}, el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, heads)), body)), pages);

  function sortBy(index) {
    // The second click turns the order round; numbers begin with the largest.
    state.down = state.by === index ? !state.down : Boolean(columns[index].number);
    state.by = index;
    state.page = 0;
    heads.forEach((head, at) => head.setAttribute("aria-sort", at !== index ? "none" : state.down ? "descending" : "ascending"));
    refresh();
  }

  function ordered() {
    const kept = options.kept ? rows.filter(options.kept) : rows.slice();
    if (state.by === null) return kept;
    const value = columns[state.by].value;
    return kept.sort((a, b) => {
      const x = value(a), y = value(b), order = compared(x, y);
      const isEmpty = [x, y].some((one) => one === null || one === undefined || one === "");
      return state.down && !isEmpty ? -order : order;
    });
  }

  function line(row) {
    const cells = columns.map((column) => el("td", { class: column.kind || (column.number ? "number" : null) }, column.cell ? column.cell(row) : visible(column.value(row))));
    if (!options.opened) return el("tr", {}, cells);
    const open = () => options.opened(row, state.shown);
    return el("tr", { class: "open", tabindex: "0", onclick: open, onkeydown: (event) => event.key === "Enter" && open() }, cells);
  }

  function turn(by) {
    state.page += by;
    refresh();
  }

  function refresh(first = false) {
    if (first) state.page = 0;
    state.shown = ordered();
    const last = Math.max(0, Math.ceil(state.shown.length / PAGE) - 1);
    state.page = Math.min(Math.max(state.page, 0), last);
    const from = state.page * PAGE;
    body.replaceChildren(...state.shown.slice(from, from + PAGE).map(line));
    if (!state.shown.length) body.append(el("tr", {}, el("td", { colspan: columns.length }, options.empty || "nothing to show")));
    pages.replaceChildren();
    if (!last) return;
    pages.append(
      el("button", { type: "button", disabled: state.page === 0, onclick: () => turn(-1) }, "back"),
      el("button", { type: "button", disabled: state.page === last, onclick: () => turn(1) }, "next"),
      `${from + 1}–${Math.min(from + PAGE, state.shown.length)} of ${state.shown.length}`);
  }

  refresh();
  return { node, refresh, shown: () => state.shown };
}
