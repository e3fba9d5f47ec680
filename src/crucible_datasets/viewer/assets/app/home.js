// What is open: datasets and stores of runs. One thing alone is shown at once.

import { ask } from "./asking.js";
import { counted, h, lastPart } from "./dom.js";
import { themeButton } from "./theme.js";

export async function draw(put) {
  const { datasets, stores } = await ask("/index");
  if (datasets.length + stores.length === 1) {
    history.replaceState(null, "", datasets.length ? `/data/${datasets[0].id}` : `/results/${stores[0].id}`);
    dispatchEvent(new Event("asked"));
    return null;
  }
  document.title = "Crucible";
  const data = datasets.map((each) =>
    entry(`/data/${each.id}`, each.name, [each.splits.map(told).join(", "), each.columns.join(", ")]),
  );
  const results = stores.map((each) => entry(`/results/${each.id}`, lastPart(each.path), [runs(each)], each.path));
  put(
    h("header", { className: "bar" }, h("h1", { text: "Crucible" }), h("span", { className: "gap" }), themeButton()),
    h("main", { className: "home" }, section("Data", data), section("Results", results)),
  );
  return null;
}

const told = ({ name, rows }) => (rows === null ? `${name}: a stream` : `${name}: ${counted(rows, "row")}`);
const runs = (store) => `${counted(store.runs, "run")}, ${store.path}`;

const line = (text) => h("span", { className: "quiet", text });

const entry = (href, name, more, title = name) =>
  h("li", {}, h("a", { href, title }, h("b", { text: name }), more.filter(Boolean).map(line)));

const section = (name, entries) =>
  entries.length > 0 && [h("h2", { text: name }), h("ul", { className: "things" }, entries)];
