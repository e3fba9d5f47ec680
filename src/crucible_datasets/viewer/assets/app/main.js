// Which page an address means. A page is given what puts it into its place, and gives back what must end before the
// next. Who goes on before a page has come never sees it, however late it comes.

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

const GONE = new Error("another page was asked for meanwhile");
let current = { path: null, page: null };

async function show() {
  const path = location.pathname.replace(/(.)\/$/, "$1");
  if (current.path !== path || !current.page?.again) {
    current.page?.end?.();
    current = { path, page: null };
  }
  const visit = current;
  const put = (...nodes) => {
    if (visit !== current) throw GONE;
    replace(document.getElementById("page"), nodes);
  };
  try {
    if (visit.page) return await visit.page.again();
    const page = await drawn(path, put);
    if (visit === current) visit.page = page;
    else page?.end?.();
  } catch (error) {
    if (visit !== current || error === GONE) return;
    visit.page?.end?.();
    current = { path: null, page: null };
    replace(document.getElementById("page"), problem(error));
  }
}

async function drawn(path, put) {
  const found = PAGES.map(([pattern, load]) => [pattern.exec(path), load]).find(([match]) => match);
  if (!found) throw new Refused({ message: `There is no page ${path}.`, type: "NotFound" });
  return (await found[1]()).draw(put, ...found[0].slice(1).map(decodeURIComponent));
}

export function problem(error) {
  return h(
    "section",
    { className: "problem", role: "alert" },
    h("h1", { text: "This cannot be shown" }),
    h("p", { text: error.message }),
    [error.hint, error.kind].filter(Boolean).map((text) => h("p", { className: "hint", text })),
    h(
      "p",
      { className: "ways" },
      location.search && h("a", { className: "button", href: location.pathname, text: "Without the question" }),
      h("a", { className: "button", href: "/", text: "Everything that is open" }),
    ),
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
