// What is open: datasets and stores of runs. One thing alone is shown at once.

import { ask, go } from "./asking.js";
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
  const entry = (href, name, more) => h("li", {}, h("a", { href, text: name }), h("span", { className: "quiet", text: more }));
  replace(
    place,
    h("header", { className: "bar" }, h("h1", { text: "Crucible" }), h("span", { className: "gap" }), themeButton()),
    h(
      "main",
      { className: "home" },
      datasets.length && [h("h2", { text: "Data" }), h("ul", {}, datasets.map((each) => entry(`/data/${each.id}`, each.name, "")))],
      stores.length && [h("h2", { text: "Results" }), h("ul", {}, stores.map((each) => entry(`/results/${each.id}`, each.path, `${count(each.runs)} runs`)))],
    ),
  );
  return null;
}

export { go };
