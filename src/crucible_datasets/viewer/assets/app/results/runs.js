// Every run of a store in a table that sorts; two or more that are chosen can be compared.

import { ask, asked, change, go } from "../asking.js";
import { counted, h, lastPart } from "../dom.js";
import { sortedTable } from "../../report/tables.js";
import { bar, comparePage, interval, metricsOf, modelCell, scored } from "./pieces.js";

export async function draw(put, id) {
  const page = new RunsPage(put, id, await ask(`/results/${id}`));
  page.again();
  return page;
}

// Runs that are the same in all that a line says of them need more to be told apart.
const whatOf = ({ model, dataset, config, split }) => JSON.stringify([model, dataset, config, split]);

const wordsOf = (text) => (text || "").toLowerCase().split(/\s+/).filter(Boolean);

class RunsPage {
  constructor(put, id, { path, runs }) {
    Object.assign(this, { id, runs });
    document.title = `Results, ${path}`;
    const known = new Set(runs.map((run) => run.run));
    this.times = new Map();
    for (const run of runs) this.times.set(whatOf(run), (this.times.get(whatOf(run)) || 0) + 1);
    this.chosen = new Set((asked().runs || "").split(",").filter((run) => known.has(run)));
    this.search = this.searchField();
    this.metric = this.metricField(metricsOf(runs));
    this.button = h("button", { type: "button", id: "compare", onclick: () => this.compare() });
    this.table = sortedTable(runs, this.columns(), { kept: (run) => this.isKept(run), empty: "no run matches" });
    put(
      bar(lastPart(path), this.search, this.metric, this.button),
      h("p", { className: "note", role: "status", text: counted(runs.length, "run") }),
      h("main", { className: "results" }, h("div", { id: "runs" }, this.table.node)),
    );
  }

  again() {
    const { q, metric } = asked();
    if (document.activeElement !== this.search) this.search.value = q || "";
    this.metric.value = metric || "";
    this.told();
    this.table.refresh();
  }

  told() {
    this.button.disabled = this.chosen.size < 2;
    this.button.textContent = this.chosen.size < 2 ? "choose two runs to compare" : `compare ${this.chosen.size} runs`;
  }

  searchField() {
    const find = (event) => {
      change({ q: event.target.value }, { instead: true });
    };
    const hint = "filter by model, benchmark, tag";
    return h("input", { type: "search", name: "q", placeholder: hint, "aria-label": hint, oninput: find });
  }

  metricField(keys) {
    const options = keys.map((key) => h("option", { value: key, text: key }));
    const choose = (event) => change({ metric: event.target.value });
    const first = h("option", { value: "", text: "first metric of each" });
    return h("select", { "aria-label": "metric", hidden: keys.length < 2, onchange: choose }, first, options);
  }

  isKept(run) {
    const { q, metric } = asked();
    const text = [run.model, run.dataset, run.config, run.split, run.run, ...run.tags].join(" ").toLowerCase();
    return wordsOf(q).every((word) => text.includes(word)) && (!metric || metric in run.scores);
  }

  hasTwin(run) {
    return this.times.get(whatOf(run)) > 1;
  }

  keyOf(run) {
    return asked().metric || Object.keys(run.scores)[0];
  }

  scoreOf(run) {
    return run.scores[this.keyOf(run)];
  }

  // Columns in which no run says anything take room from the others.
  columns() {
    const isSaid = ({ spare, value }) => !spare || this.runs.some((run) => ![null, undefined, ""].includes(value(run)));
    return this.allColumns().filter(isSaid);
  }

  allColumns() {
    const score = (run) => this.scoreOf(run);
    return [
      { title: "", value: (run) => (this.chosen.has(run.run) ? 0 : 1), cell: (run) => this.checkbox(run) },
      { title: "model", value: (run) => run.model, cell: (run) => modelCell(this.id, run, null) },
      { title: "benchmark", value: (run) => run.dataset },
      { title: "configuration", spare: true, value: (run) => run.config },
      { title: "split", spare: true, value: (run) => run.split },
      { title: "metric", value: (run) => this.keyOf(run) },
      { title: "score", number: true, value: (run) => score(run)?.value, cell: (run) => scored(score(run)) },
      { title: "interval", number: true, value: (run) => score(run)?.low, cell: (run) => interval(score(run)) },
      { title: "unparsed", number: true, value: (run) => score(run)?.unparsed, cell: unparsed(score) },
      { title: "n", number: true, value: (run) => score(run)?.n },
      { title: "made", value: (run) => run.created, cell: (run) => (run.created || "").slice(0, 16).replace("T", " ") },
      { title: "run", spare: true, value: (run) => (this.hasTwin(run) ? run.run : "") },
      { title: "rule", spare: true, value: (run) => (this.hasTwin(run) ? run.rules.join(", ") : "") },
      { title: "tags", spare: true, value: (run) => run.tags.join(", ") },
    ];
  }

  checkbox(run) {
    const choose = (event) => {
      this.chosen[event.target.checked ? "add" : "delete"](run.run);
      change({ runs: [...this.chosen].join(",") }, { instead: true });
    };
    const name = `choose ${run.model}${this.hasTwin(run) ? ` (${run.run})` : ""}`;
    return h("input", { type: "checkbox", "aria-label": name, checked: this.chosen.has(run.run), onchange: choose });
  }

  // The oldest first: what came later is compared with what was there before.
  compare() {
    const runs = this.runs.filter((run) => this.chosen.has(run.run)).map((run) => run.run);
    go(comparePage(this.id, { runs: runs.reverse().join(","), metric: asked().metric }));
  }
}

const unparsed = (score) => (run) => (score(run) ? `${(100 * score(run).unparsed).toFixed(1)} %` : "–");
