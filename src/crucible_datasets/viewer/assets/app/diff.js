// Two answers side by side, with the words that differ marked. What both begin with is shown once.

import { differences } from "../report/diff.js";
import { bubbles } from "./chat.js";
import { h } from "./dom.js";
import { folded } from "./folding.js";
import { whole } from "./values.js";

export const PAIR = ["chosen", "rejected"];

export const isPair = (names) => PAIR.every((name) => names.includes(name));

export function pair(chosen, rejected) {
  const both = commonTurns(chosen, rejected);
  const sides = [chosen, rejected].map((value) => rest(value, both.length));
  const texts = sides.map(onlyText);
  const marked = texts.every((text) => text !== null) ? wordDiff(...texts) : null;
  const column = (name, index) =>
    h(
      "section",
      { className: `field ${name}` },
      h("h3", { text: name }),
      marked ? folded(texts[index], h("div", { className: "diff" }, marked[index])) : whole(sides[index]),
    );
  return h(
    "div",
    { className: "compared" },
    both.length > 0 && h("section", { className: "field" }, h("h3", { text: "both" }), bubbles(both)),
    h("div", { className: "pair" }, PAIR.map(column)),
  );
}

function commonTurns(left, right) {
  if (left?.t !== "chat" || right?.t !== "chat") return [];
  const end = left.v.findIndex((turn, index) => JSON.stringify(turn) !== JSON.stringify(right.v[index]));
  return left.v.slice(0, end === -1 ? left.v.length : end);
}

const rest = (value, start) => (value?.t === "chat" ? { ...value, v: value.v.slice(start) } : value);

function onlyText(value) {
  if (value?.t === "text") return value.v;
  const alone = value?.t === "chat" && value.v.length === 1 && !value.v[0].more ? value.v[0].content : null;
  return typeof alone === "string" ? alone : null;
}

// What only the first says is marked in it, and what only the second says in that one.
export function wordDiff(first, second) {
  const steps = differences(first, second);
  return [side(steps, "out", "del"), side(steps, "in", "ins")];
}

// A space between two words that differ is marked as they are, so that they read as one.
function side(steps, kind, tag) {
  const own = steps.filter(([found]) => found === "same" || found === kind);
  const isMarked = (step) => step?.[0] === kind;
  const isJoint = ([, text], index) => !text.trim() && isMarked(own[index - 1]) && isMarked(own[index + 1]);
  return own.map((step, index) => h(isMarked(step) || isJoint(step, index) ? tag : "span", { text: step[1] }));
}
