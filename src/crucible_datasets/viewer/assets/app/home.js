// What is open: datasets and stores of runs. One thing alone is shown at once.

import { ask } from "./asking.js";
import { count, h, replace } from "./dom.js";
import { themeButton } from "./theme.js";

export async function draw(place) {
  const { datasets, stores } = await ask("/index");
  if (datasets.length + stores.length === 1) {
    history.replaceState(null, "", datasets.length ? `/data/${datasets[0].id}` : `/results/${stores[0].id}`);
    dispatchEvent(new Event("asked"));
    return null;
  }
  document.title = "Crucible";
  const data = datasets.map((each) => entry(`/data/${each.id}`, each.name));
  const results = stores.map((each) => entry(`/results/${each.id}`, each.path, `${count(each.runs)} runs`));
  replace(
    place,
    h("header", { className: "bar" }, h("h1", { text: "Crucible" }), h("span", { className: "gap" }), themeButton()),
    h("main", { className: "home" }, section("Data", data), section("Results", results)),
  );
  return null;
}

const entry = (href, name, more = "") =>
  h("li", {}, h("a", { href, text: name }), h("span", { className: "quiet", text: more }));

const section = (name, entries) => entries.length > 0 && [h("h2", { text: name }), h("ul", {}, entries)];
