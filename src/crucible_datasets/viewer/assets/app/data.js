// The page of one dataset: what is asked for above, rows below, one row beside them when it is opened.

import { ask, asked, change, withQuery } from "./asking.js";
import { drawBar } from "./bar.js";
import { count, counted, h, replace, visible } from "./dom.js";
import { press } from "./keys.js";
import { firstRows } from "./rows.js";
import { Table } from "./table.js";

export async function draw(put, id) {
  const page = new DataPage(put, id);
  await page.again();
  return page;
}

class DataPage {
  constructor(put, id) {
    this.path = `/data/${id}`;
    this.bar = h("header", { className: "bar" });
    this.note = h("p", { className: "note", role: "status", text: "reading …" });
    this.grid = h("main", { className: "grid", tabIndex: 0, "aria-label": "rows" });
    this.side = h("aside", { className: "side", hidden: true, "aria-label": "one row" });
    this.keys = (event) => press(event, this);
    addEventListener("keydown", this.keys);
    put(this.bar, this.note, h("div", { className: "beside" }, this.grid, this.side));
  }

  end() {
    removeEventListener("keydown", this.keys);
    this.table?.end();
  }

  // The question without the row that is open, which changes no other.
  question() {
    const { row, ...rest } = asked();
    return rest;
  }

  async again() {
    const wanted = JSON.stringify(this.question());
    const isNew = wanted !== this.wanted;
    this.wanted = wanted;
    if (isNew && !(await this.load(wanted))) return;
    await this.openRow(isNew);
  }

  async load(wanted) {
    this.grid.setAttribute("aria-busy", "true");
    const first = history.state?.at ? null : this.firstRows();
    try {
      const facts = await ask(this.path, this.question());
      if (wanted !== this.wanted) return false; // another question has been asked meanwhile
      this.facts = facts;
    } catch (error) {
      if (!this.facts) throw error;
      if (wanted === this.wanted) this.say([error.message, error.hint].filter(Boolean).join(" "), true);
      return false;
    } finally {
      if (wanted === this.wanted) this.grid.removeAttribute("aria-busy");
    }
    this.show(first);
    return true;
  }

  // They are on their way while the page still asks what there is.
  firstRows() {
    const coming = firstRows(this.path, this.question());
    coming.catch(() => {}); // whoever draws them tells
    return coming;
  }

  show(first) {
    document.title = visible(`${this.facts.dataset}, ${this.facts.split}`);
    this.say(told(this.facts));
    this.table?.end();
    drawBar(this.bar, this);
    const open = (row) => change({ row }, { instead: asked().row !== undefined });
    this.table = new Table(this.grid, this.path, this.facts, this.question(), open, first);
    if (history.state?.at) this.table.sight.show(history.state.at);
  }

  say(text, isWrong = false) {
    this.note.className = isWrong ? "note wrong" : "note";
    replace(this.note, text);
  }

  async openRow(isNew) {
    const { row, config, split, sql } = asked();
    this.side.hidden = row === undefined;
    this.table?.mark(row === undefined ? null : Number(row));
    if (row === undefined) return;
    if (isNew) await this.scrollTo(Number(row));
    try {
      const coming = ask(`${this.path}/row/${row}`, { config, split, sql });
      const [found, { panel }] = await Promise.all([coming, import("./panel.js")]);
      if (asked().row !== row) return;
      replace(this.side, panel(found, this.controls(row)));
      this.side.scrollTop = 0;
    } catch (error) {
      replace(this.side, this.closing(error.message));
    }
  }

  controls(row) {
    const { config, split, sql } = asked();
    const step = (by, text, title) =>
      h("button", { type: "button", text, title, "aria-label": title, onclick: () => this.table.move(by, true) });
    const alone = withQuery(`${this.path}/row/${row}`, { config, split, sql });
    return [
      step(-1, "↑", "the row before"),
      step(1, "↓", "the next row"),
      h("a", { className: "button", href: alone, text: "alone", title: "this row on a page of its own" }),
      h("button", { type: "button", className: "close", text: "close", onclick: () => change({ row: null }) }),
    ];
  }

  closing(text) {
    const close = h("button", {
      type: "button",
      className: "close",
      text: "close",
      onclick: () => change({ row: null }),
    });
    return h(
      "div",
      { className: "panel" },
      h("header", {}, h("span", { className: "gap" }), close),
      h("p", { className: "wrong", text }),
    );
  }

  async goTo(row) {
    await this.scrollTo(row);
    change({ row });
  }

  // Bring a row of the split into sight, if it is among the rows that are asked for.
  async scrollTo(row) {
    const { place } = await ask(`${this.path}/place/${row}`, this.question());
    if (place === null) this.say(`${told(this.facts)}; row ${count(row)} is not among these`);
    else this.table.scrollTo(place);
  }
}

function told({ num_rows: rows, read_rows: read, total_rows: total, asked: question, note }) {
  const order = [
    question.sort && `sorted by ${question.sort}`,
    question.seed !== undefined && `shuffled with seed ${question.seed}`,
  ];
  const all = total === null ? `the first ${count(read)} rows of a stream` : counted(total, "row");
  const number = question.sql
    ? `${counted(rows, "row")} of a query${total === null ? ` over ${all}` : ""}`
    : rows === read
      ? all
      : `${count(rows)} of ${all}`;
  return [[number, ...order].filter(Boolean).join(", "), note].filter(Boolean).join(". ");
}
