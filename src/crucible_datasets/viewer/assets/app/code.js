// Programs in colours. The tree of tokens becomes elements one by one, so that no text is ever read as markup.

import { h, replace } from "./dom.js";

const LONGEST = 50_000;
const LONGEST_GUESS = 5_000;
const GUESSED = ["python", "javascript", "typescript", "java", "cpp", "c", "go", "rust", "sql", "bash", "json"];
const BEGINNINGS = [
  /^\s*(def \w+\(|class \w+[:({]|import [\w.]+|from [\w.]+ import |@\w+)/m,
  /^\s*(#include\s*[<"]|#!\/|package \w|public (static|class)|fn \w+|func \w+\()/m,
  /^\s*((export )?(async )?function \w*\(|(const|let|var) \w+ =)/m,
  /^\s*select\s.+\sfrom\s/im,
];
const FENCE = /^\s*(```|~~~)/m; // a text about programs
const ENDINGS = /[;{}:)\]]\s*$|^\s*(return|for|if|while|else|elif)\b|^\s*$|^\s{2,}\S|=/;

let library = null;

// Most lines end or begin as lines of programs do, and one of them begins a definition.
export function looksLikeCode(text) {
  if (text.length > LONGEST || FENCE.test(text) || !BEGINNINGS.some((beginning) => beginning.test(text))) return false;
  const lines = text.split("\n");
  if (lines.length < 2) return /[;{})\]]\s*$/.test(text);
  return lines.filter((line) => ENDINGS.test(line)).length >= 0.6 * lines.length;
}

export function code(text, language = null) {
  const place = h("code", { text });
  paint(place, text, language);
  return h("pre", { className: "code" }, place);
}

async function paint(place, text, language) {
  if (text.length > LONGEST) return;
  library ||= import("../vendor/highlight.js");
  const { default: highlight } = await library;
  const known = language && highlight.getLanguage(language) ? language : null;
  if (!known && text.length > LONGEST_GUESS) return;
  const found = known
    ? highlight.highlight(text, { language: known, ignoreIllegals: true })
    : highlight.highlightAuto(text, GUESSED);
  if (found.illegal) return;
  replace(place, found._emitter.rootNode.children.map(painted));
}

function painted(token) {
  if (typeof token === "string") return token;
  const names = token.scope ? token.scope.split(".").map((part) => `hljs-${part}`) : [];
  return h("span", { className: names.join(" ") }, token.children.map(painted));
}
