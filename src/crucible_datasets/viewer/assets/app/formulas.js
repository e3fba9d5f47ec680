// Formulas between $ and $$, \( \) and \[ \]: found by Markdown as words of their own, drawn as MathML.

import { h } from "./dom.js";

const PAIRS = String.raw`\$\$([\s\S]+?)\$\$|\\\[([\s\S]+?)\\\]`;
const ENVIRONMENT = String.raw`\\begin\{(equation|align|gather)\*?\}[\s\S]+?\\end\{\3\*?\}`;
const SINGLE = String.raw`\\\(([\s\S]+?)\\\)|\$(?!\s)((?:\\.|[^$\\\n])+?)(?<!\s)\$(?!\d)`;
const BLOCK = new RegExp(String.raw`^\s*(?:${PAIRS}|${ENVIRONMENT})[ \t]*(?:\n|$)`);
const WITHIN = new RegExp(`^(?:${PAIRS}|${SINGLE})`);
const SIGNS = /\$|\\[([]/;
const MOST_EXPANSIONS = 200;

const first = (...found) => found.find((each) => each !== undefined);

// What Markdown is told: where a formula may begin, and which text is one.
export const FORMULAS = [
  {
    name: "formulaBlock",
    level: "block",
    start: (text) => text.match(/\n[ \t]*(\$\$|\\\[|\\begin\{)/)?.index,
    tokenizer(text) {
      const found = BLOCK.exec(text);
      if (found)
        return { type: "formulaBlock", raw: found[0], tex: first(found[1], found[2], found[0].trim()), block: true };
    },
  },
  {
    name: "formula",
    level: "inline",
    start: (text) => text.match(SIGNS)?.index,
    tokenizer(text) {
      const found = WITHIN.exec(text);
      if (found) {
        const block = found[1] !== undefined || found[2] !== undefined;
        return { type: "formula", raw: found[0], tex: first(...found.slice(1)), block };
      }
    },
  },
];

export function formula({ raw, tex, block }, temml) {
  const place = h("span", { className: block ? "formula block" : "formula" });
  try {
    temml.render(tex, place, { displayMode: block, throwOnError: true, trust: false, maxExpand: MOST_EXPANSIONS });
  } catch {
    place.replaceChildren(h("code", { text: raw.trim() }));
  }
  return place;
}
