// Rows that are in sight and a few around them, and no others.

import { cell } from "./cells.js";
import { h, replace } from "./dom.js";
import { header, width } from "./header.js";
import { AT_ONCE, Pages } from "./rows.js";
import { ROW_HEIGHT, Scale, Sight } from "./scrolling.js";

const AROUND = 8;
const NUMBER_WIDTH = 72;

export class Table {
  constructor(place, path, facts, question, open, first) {
    Object.assign(this, { place, facts, question, openRow: open, marked: null, chosen: null });
    this.stop = new AbortController();
    this.pages = new Pages(path, question, this.stop.signal, () => this.soon());
    if (first) this.pages.take(0, first);
    this.columns = facts.shown.map((name) => facts.columns.find((each) => each.name === name));
    this.lines = new Map();
    this.build(path);
    this.scale = new Scale(facts.num_rows, this.head.offsetHeight);
    this.space.style.height = `${this.scale.drawn}px`;
    this.sight = new Sight(place, this.scale, () => this.draw());
    this.sizes = new ResizeObserver(() => this.draw());
    this.sizes.observe(place);
    this.draw();
  }

  build(path) {
    const headers = this.columns.map((column) =>
      header(column, path, this.question, this.stop.signal, this.pages.arrived),
    );
    this.body = h("tbody");
    this.head = h("thead", {}, h("tr", {}, h("th", { className: "number", scope: "col", text: "row" }), headers));
    const widths = [NUMBER_WIDTH, ...this.columns.map((column) => width(column))];
    const wanted = widths.reduce((sum, wide) => sum + wide, 0);
    // Room that is left goes to the widest columns.
    const most = wanted < this.place.clientWidth ? Math.max(...widths) : Infinity;
    const columns = widths.map((wide) => {
      const column = h("col");
      if (wide < most) column.style.width = `${wide}px`;
      return column;
    });
    this.grid = h(
      "table",
      { className: "rows", "aria-rowcount": this.facts.num_rows },
      h("colgroup", {}, columns),
      this.head,
      this.body,
    );
    this.grid.style.width = `max(100%, ${wanted}px)`;
    this.space = h("div", { className: "space" }, this.grid);
    const nothing = !this.facts.num_rows && h("p", { className: "nothing", text: "No rows." });
    replace(this.place, this.space, nothing);
  }

  end() {
    this.stop.abort();
    this.sizes.disconnect();
    this.sight.end();
  }

  get first() {
    return Math.floor(this.sight.at / ROW_HEIGHT);
  }

  get visible() {
    return Math.max(Math.floor((this.place.clientHeight - this.scale.above) / ROW_HEIGHT), 1);
  }

  // Bring a row into sight, by its place in this table.
  scrollTo(place) {
    this.chosen = place;
    this.sight.show(place * ROW_HEIGHT);
  }

  move(by, opens) {
    const from = this.chosen ?? (by > 0 ? this.first - 1 : this.first);
    this.chosen = Math.min(Math.max(from + by, 0), this.facts.num_rows - 1);
    const top = this.chosen * ROW_HEIGHT;
    const room = this.place.clientHeight - this.scale.above;
    if (top < this.sight.at) this.sight.show(top);
    else if (top + ROW_HEIGHT > this.sight.at + room) this.sight.show(top + ROW_HEIGHT - room);
    this.draw();
    if (opens) this.open();
  }

  async open() {
    if (this.chosen === null) return;
    const found = await this.pages.row(this.chosen);
    if (found) this.openRow(found.row);
  }

  mark(row) {
    this.marked = row;
    this.draw();
  }

  draw() {
    if (this.stop.signal.aborted) return;
    const from = Math.max(this.first - AROUND, 0);
    const to = Math.min(this.first + this.visible + 2 + AROUND, this.facts.num_rows);
    // The place of the rows on the page, less the place in the bar, is how far the two have drifted apart.
    this.grid.style.top = `${from * ROW_HEIGHT - this.sight.at + this.sight.bar}px`;
    for (const [place, line] of this.lines) {
      if (place >= from && place < to) continue;
      line.node.remove();
      this.lines.delete(place);
    }
    let before = null;
    for (let place = to - 1; place >= from; place -= 1) before = this.line(place, before);
    this.pages.fetch(Math.floor(from / AT_ONCE), Math.floor((to - 1) / AT_ONCE));
  }

  // Lines that are drawn stay as they are: a sound that plays goes on, a picture is not fetched again.
  line(place, before) {
    const found = this.pages.known(place);
    let line = this.lines.get(place);
    if (!line || (found && !line.found)) {
      const node = found ? this.filled(place, found) : this.waiting();
      if (line) line.node.replaceWith(node);
      else this.body.insertBefore(node, before);
      line = { node, found };
      this.lines.set(place, line);
    }
    line.node.classList.toggle("marked", Boolean(found) && found.row === this.marked);
    line.node.classList.toggle("chosen", place === this.chosen);
    return line.node;
  }

  waiting() {
    const wrong = this.pages.wrong;
    if (wrong)
      return h("tr", {}, h("td", { className: "wrong", colSpan: this.columns.length + 1, text: wrong.message }));
    return h(
      "tr",
      { className: "waiting" },
      h("td", { className: "number", text: "…" }),
      this.columns.map(() => h("td")),
    );
  }

  filled(place, found) {
    const choose = (event) => {
      if (event.target.closest("a, button, audio, video") || String(getSelection())) return;
      this.chosen = place;
      this.openRow(found.row);
    };
    return h(
      "tr",
      { "aria-rowindex": place + 1, "data-row": found.row, onclick: choose },
      h("td", { className: "number", text: found.row }),
      found.cells.map((value, index) =>
        h("td", { className: `kind-${this.columns[index].kind}` }, cell(value, this.question.q)),
      ),
    );
  }

  soon() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.draw();
    });
  }
}
