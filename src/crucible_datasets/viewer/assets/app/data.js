// The page of one dataset: what is asked for above, rows below, one row beside them when it is opened.

import { ask, asked, change } from "./asking.js";
import { count, h, later, replace } from "./dom.js";
import { panel } from "./panel.js";
import { Table } from "./table.js";
import { themeButton } from "./theme.js";

export async function draw(place, id) {
  const page = new DataPage(place, id);
  await page.again();
  return page;
}

class DataPage {
  constructor(place, id) {
    this.place = place;
    this.path = `/data/${id}`;
    this.bar = h("header", { className: "bar" });
    this.note = h("p", { className: "note", role: "status" });
    this.grid = h("div", { className: "grid" });
    this.side = h("aside", { className: "side", hidden: true });
    this.keys = (event) => this.press(event);
    this.drawn = false;
    addEventListener("keydown", this.keys);
  }

  end() {
    removeEventListener("keydown", this.keys);
    this.table?.end();
  }

  question() {
    const { row, ...rest } = asked();
    return rest;
  }

  async again() {
    const asks = JSON.stringify(this.question());
    if (!this.drawn) {
      replace(this.place, this.bar, this.note, h("div", { className: "beside" }, this.grid, this.side));
      this.drawn = true;
    }
    if (asks !== this.asks) {
      this.asks = asks;
      await this.load();
    }
    await this.openRow();
  }

  async load() {
    this.grid.setAttribute("aria-busy", "true");
    try {
      this.facts = await ask(this.path, this.question());
    } catch (error) {
      if (!this.facts) throw error;
      this.note.className = "note wrong";
      this.note.textContent = `${error.message}${error.hint ? ` ${error.hint}` : ""}`;
      return;
    } finally {
      this.grid.removeAttribute("aria-busy");
    }
    document.title = `${this.facts.dataset}, ${this.facts.split}`;
    const { num_rows: rows, total_rows: total } = this.facts;
    this.note.className = "note";
    this.note.textContent = total === null ? `the first ${count(rows)} rows of a stream` : rows === total ? `${count(total)} rows` : `${count(rows)} of ${count(total)} rows`;
    this.table?.end();
    this.table = new Table(this.grid, this.path, this.facts, this.question(), (row) => change({ row }));
    this.drawBar();
  }

  async openRow() {
    const { row } = asked();
    this.side.hidden = row === undefined;
    this.table?.mark(row === undefined ? null : Number(row));
    if (row === undefined) return;
    const { config, split } = this.question();
    try {
      const found = await ask(`${this.path}/row/${row}`, { config, split });
      replace(this.side, panel(found, this.path, () => change({ row: null })));
    } catch (error) {
      replace(this.side, h("p", { className: "wrong", text: error.message }));
    }
  }

  drawBar() {
    const { facts } = this;
    const asks = facts.asked;
    const choice = (name, options, chosen, parts) =>
      options.length > 1 && h("label", {}, h("span", { text: name }), h("select", { "aria-label": name, onchange: (event) => change(parts(event.target.value)) }, options.map((option) => h("option", { value: option.value, text: option.text, selected: option.value === chosen }))));
    const words = (name, hint, value) => {
      const input = h("input", { type: "search", name, placeholder: hint, value: value || "", "aria-label": hint, spellcheck: false, autocomplete: "off" });
      const send = () => change({ [name]: input.value.trim(), row: null });
      input.addEventListener("keydown", (event) => event.key === "Enter" && send());
      input.addEventListener("search", send);
      if (name === "q") input.addEventListener("input", later(350, send));
      return input;
    };
    const focused = document.activeElement?.name;
    const at = document.activeElement?.selectionStart;
    const query = new URLSearchParams(Object.entries(this.question()));
    replace(
      this.bar,
      h("a", { className: "brand", href: "/", title: "Everything that is open", text: "Crucible" }),
      h("h1", { text: facts.dataset }),
      choice("configuration", facts.configs.map((name) => ({ value: name, text: name })), facts.config || facts.configs[0], (config) => ({ config, split: null, row: null })),
      choice("split", facts.splits.map((each) => ({ value: each.name, text: each.rows === null ? each.name : `${each.name} (${count(each.rows)})` })), facts.split, (split) => ({ split, row: null })),
      words("q", "search in texts", asks.q),
      words("where", "filter, as: score > 3 and lang = 'en'", asks.where),
      h("button", { type: "button", title: "Another order, by a seed", text: asks.seed === undefined ? "shuffle" : `seed ${asks.seed}`, onclick: () => change({ seed: asks.seed === undefined ? 0 : asks.seed + 1, row: null }) }),
      (asks.sort || asks.seed !== undefined || asks.q || asks.where || asks.sql || asks.columns) && h("button", { type: "button", text: "clear", title: "All rows in their own order", onclick: () => change({ q: null, where: null, sql: null, sort: null, seed: null, columns: null, row: null }) }),
      h("input", { className: "goto", type: "number", min: 0, placeholder: "row", "aria-label": "go to row", onkeydown: (event) => event.key === "Enter" && event.target.value !== "" && this.goTo(Number(event.target.value)) }),
      this.columnMenu(),
      h("details", { className: "menu" }, h("summary", { text: "more" }), h("div", {}, ["jsonl", "csv", "parquet"].map((kind) => h("a", { href: `${this.path}/download.${kind}?${query}`, download: `rows.${kind}`, text: `download ${kind}` })), h("button", { type: "button", text: "copy address", onclick: () => navigator.clipboard.writeText(location.href) }), h("label", { className: "sql" }, "SQL", h("textarea", { rows: 3, value: asks.sql || "", placeholder: "select * from self order by score desc", "aria-label": "SQL", spellcheck: false, onkeydown: (event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && change({ sql: event.target.value.trim(), row: null }) })))),
      h("span", { className: "gap" }),
      themeButton(),
    );
    if (focused) {
      const input = this.bar.querySelector(`[name="${CSS.escape(focused)}"]`);
      input?.focus();
      if (at !== undefined && at !== null) input?.setSelectionRange?.(at, at);
    }
  }

  columnMenu() {
    const { columns, shown } = this.facts;
    const toggle = (name, on) => {
      const next = columns.map((each) => each.name).filter((each) => (each === name ? on : shown.includes(each)));
      if (next.length) change({ columns: next.length === columns.length ? null : next.join(",") });
    };
    return h("details", { className: "menu" }, h("summary", { text: "columns" }), h("div", {}, columns.map((each) => h("label", {}, h("input", { type: "checkbox", checked: shown.includes(each.name), onchange: (event) => toggle(each.name, event.target.checked) }), ` ${each.name}`, h("span", { className: "quiet", text: ` ${each.type}` })))));
  }

  async goTo(row) {
    const { place } = await ask(`${this.path}/place/${row}`, this.question());
    if (place === null) this.note.textContent = `Row ${count(row)} is not among these.`;
    else this.table.scrollTo(place);
    change({ row });
  }

  press(event) {
    if (event.target.closest("input, textarea, select, [contenteditable]")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const moves = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 20, PageUp: -20 };
    if (event.key === "/") this.bar.querySelector("[name=q]").focus();
    else if (event.key === "g") this.bar.querySelector(".goto").focus();
    else if (event.key === "Escape") change({ row: null });
    else if (event.key === "Home") this.table.scrollTo(0);
    else if (event.key === "End") this.table.scrollTo(this.facts.num_rows - 1);
    else if (event.key === "Enter") this.table.open();
    else if (event.key in moves) this.table.move(moves[event.key], asked().row !== undefined);
    else return;
    event.preventDefault();
  }
}
