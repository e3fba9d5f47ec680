// Markdown as elements. Its tokens are walked here: markup within a text is shown as it is written, links lead only
// to pages and people, and pictures of other machines are not fetched.

import { code } from "./code.js";
import { h } from "./dom.js";
import { FORMULAS, formula } from "./formulas.js";

const SAFE_LINK = /^(https?:\/\/|mailto:)/i;
const SAFE_PICTURE = /^data:image\/(png|jpeg|gif|webp);base64,/i;

let library = null;

async function load() {
  const [{ Marked }, { default: temml }] = await Promise.all([
    import("../vendor/marked.js"),
    import("../vendor/temml.js"),
  ]);
  return { reader: new Marked({ gfm: true, breaks: true, extensions: FORMULAS }), temml };
}

export async function markdown(text) {
  library ||= load();
  const { reader, temml } = await library;
  const draw = (token) => (TOKENS[token.type] || asWritten)(token, inside, temml);
  const inside = (tokens) => (tokens || []).map(draw);
  return h("div", { className: "markdown" }, inside(reader.lexer(text)));
}

const asWritten = (token) => token.raw;
const around = (tag) => (token, inside) => h(tag, {}, inside(token.tokens));

const TOKENS = {
  space: () => null,
  def: (token) => h("p", { text: token.raw.trim() }),
  paragraph: around("p"),
  blockquote: around("blockquote"),
  strong: around("strong"),
  em: around("em"),
  del: around("del"),
  heading: (token, inside) => h(`h${token.depth}`, {}, inside(token.tokens)),
  hr: () => h("hr"),
  br: () => h("br"),
  text: (token, inside) => (token.tokens ? inside(token.tokens) : token.text),
  escape: (token) => token.text,
  html: (token) => h("span", { className: "markup", text: token.raw }),
  code: (token) => code(token.text, (token.lang || "").split(/\s/)[0].toLowerCase()),
  codespan: (token) => h("code", { text: token.text }),
  checkbox: (token) => h("input", { type: "checkbox", checked: token.checked, disabled: true }),
  list: (token, inside) =>
    h(token.ordered ? "ol" : "ul", { start: token.start || null }, token.items.map(item(inside))),
  table: (token, inside) =>
    h(
      "table",
      {},
      h("thead", {}, line(token.header, inside)),
      h(
        "tbody",
        {},
        token.rows.map((row) => line(row, inside)),
      ),
    ),
  link: (token, inside) => (SAFE_LINK.test(token.href) ? link(token.href, inside(token.tokens)) : asWritten(token)),
  image: (token) => (SAFE_PICTURE.test(token.href) ? h("img", { src: token.href, alt: token.text }) : asWritten(token)),
  formula: (token, inside, temml) => formula(token, temml),
  formulaBlock: (token, inside, temml) => formula(token, temml),
};

const link = (href, children) => h("a", { href, title: href, target: "_blank", rel: "noopener noreferrer" }, children);
const item = (inside) => (each) => h("li", {}, inside(each.tokens));
const line = (cells, inside) =>
  h(
    "tr",
    {},
    cells.map((cell) => h(cell.header ? "th" : "td", { align: cell.align }, inside(cell.tokens))),
  );
