// One row, whole: every column as its kind is best read.

import { copyButton } from "./copying.js";
import { isPair, PAIR, pair } from "./diff.js";
import { count, h } from "./dom.js";
import { bare, whole } from "./values.js";

const LANGUAGES = ["language", "lang", "programming_language"];
const CODE = /^(code|solution|canonical_solution|program|test|tests|test_code|starter_code|patch|diff)$/i;

export function panel(found, controls = null) {
  const values = new Map(found.columns.map((column, index) => [column.name, found.cells[index]]));
  const compares = isPair([...values.keys()]);
  const language = languageOf(values);
  const isOfPair = (column) => compares && PAIR.includes(column.name);
  const first = found.columns.find(isOfPair);
  // The pair stands where its first column does: after the prompt, before the scores.
  const drawn = (column) => {
    if (column === first) return pair(values.get("chosen"), values.get("rejected"));
    return !isOfPair(column) && field(column, values.get(column.name), language);
  };
  return h(
    "article",
    { className: "panel", "aria-label": `row ${found.row}` },
    h(
      "header",
      {},
      h("h2", { text: `Row ${count(found.row)}` }),
      h("span", { className: "gap" }),
      copyButton("copy JSON", () => asJson(values)),
      controls,
    ),
    found.columns.map(drawn),
  );
}

// A row may say in which language its programs are.
function languageOf(values) {
  const named = LANGUAGES.map((name) => values.get(name)).find((value) => value?.t === "text" || value?.t === "label");
  const language = named ? String(named.name ?? named.v).toLowerCase() : null;
  return language && /^[a-z+#]{1,12}$/.test(language) ? language : null;
}

function field(column, value, language) {
  return h(
    "section",
    { className: `field kind-${column.kind}` },
    h("h3", { text: column.name }),
    whole(value, CODE.test(column.name) ? language : null),
  );
}

const asJson = (values) =>
  JSON.stringify(Object.fromEntries([...values].map(([name, value]) => [name, bare(value)])), null, 2);
