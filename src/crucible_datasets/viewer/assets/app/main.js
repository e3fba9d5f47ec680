// Which page an address means. Pages draw themselves into one element and give back what must end before the next.

import { Refused, go } from "./asking.js";
import { h, replace } from "./dom.js";
import { theme } from "./theme.js";

const PAGES = [
  [/^\/$/, () => import("./home.js")],
  [/^\/data\/([^/]+)$/, () => import("./data.js")],
  [/^\/data\/([^/]+)\/row\/(\d+)$/, () => import("./row.js")],
  [/^\/results\/([^/]+)$/, () => import("./results/runs.js")],
  [/^\/results\/([^/]+)\/run\/([^/]+)$/, () => import("./results/run.js")],
  [/^\/results\/([^/]+)\/compare$/, () => import("./results/compare.js")],
  [/^\/results\/([^/]+)\/sample\/(.+)$/, () => import("./results/sample.js")],
];

let current = { path: null, page: null };

async function show() {
  const place = document.getElementById("page");
  const path = location.pathname.replace(/(.)\/$/, "$1");
  if (current.path === path && current.page && current.page.again) return current.page.again();
  current.page?.end?.();
  current = { path, page: null };
  const found = PAGES.map(([pattern, load]) => [pattern.exec(path), load]).find(([match]) => match);
  try {
    if (!found) throw new Refused({ message: `There is no page ${path}.`, type: "NotFound" });
    const page = await (await found[1]()).draw(place, ...found[0].slice(1).map(decodeURIComponent));
    if (current.path === path) current.page = page;
    else page?.end?.();
  } catch (error) {
    replace(place, problem(error));
  }
}

export function problem(error) {
  return h(
    "section",
    { className: "problem", role: "alert" },
    h("h1", { text: "This cannot be shown" }),
    h("p", { text: error.message }),
    [error.hint, error.kind].filter(Boolean).map((text) => h("p", { className: "hint", text })),
    h("p", {}, h("a", { href: "/", text: "Back to the beginning" })),
  );
}

// Links within the viewer change the address and nothing is loaded anew.
addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href^='/']");
  if (!link || link.target || link.download || event.metaKey || event.ctrlKey || event.shiftKey || event.button) return;
  event.preventDefault();
  go(link.getAttribute("href"));
});
addEventListener("popstate", show);
addEventListener("asked", show);
theme();
show();
