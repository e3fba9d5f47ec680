// One row on a page of its own.

import { ask, asked, withQuery } from "./asking.js";
import { h } from "./dom.js";
import { panel } from "./panel.js";
import { themeButton } from "./theme.js";

export async function draw(put, id, row) {
  const { config, split, sql } = asked();
  const found = await ask(`/data/${id}/row/${row}`, { config, split, sql });
  const back = withQuery(`/data/${id}`, { ...asked(), row });
  document.title = `Row ${row}`;
  put(
    h(
      "header",
      { className: "bar" },
      h("a", { className: "brand", href: back, text: "all rows" }),
      h("span", { className: "gap" }),
      themeButton(),
    ),
    h("main", { className: "single" }, panel(found)),
  );
  return null;
}
