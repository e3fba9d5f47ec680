// The words in which two texts differ.

import { el } from "./dom.js";

const MOST_CELLS = 4e6;

const wordsOf = (text) => text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) || [];

/** Pairs of [kind, text]: "same", "out" (only in the first), "in" (only in the second). */
export function differences(first, second) {
  let a = wordsOf(first), b = wordsOf(second);
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const before = a.slice(0, start), after = a.slice(a.length - end);
  a = a.slice(start, a.length - end);
  b = b.slice(start, b.length - end);
  const middle = (a.length + 1) * (b.length + 1) > MOST_CELLS
    ? [["out", a.join("")], ["in", b.join("")]]
    : longestCommon(a, b);
  return joined([["same", before.join("")], ...middle, ["same", after.join("")]]);
}

function longestCommon(a, b) {
  const wide = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * wide);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      lengths[i * wide + j] = a[i] === b[j]
        ? lengths[(i + 1) * wide + j + 1] + 1
        : Math.max(lengths[(i + 1) * wide + j], lengths[i * wide + j + 1]);
    }
  }
  const steps = [];
  let i = 0, j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) { steps.push(["same", a[i]]); i++; j++; }
    else if (j >= b.length || (i < a.length && lengths[(i + 1) * wide + j] >= lengths[i * wide + j + 1])) { steps.push(["out", a[i]]); i++; }
    else { steps.push(["in", b[j]]); j++; }
  }
  return steps;
}

function joined(steps) {
  const found = [];
  for (const [kind, text] of steps) {
    if (!text) continue;
    const last = found[found.length - 1];
    if (last && last[0] === kind) last[1] += text;
    else found.push([kind, text]);
  }
  return found;
}

export function differenceText(first, second) {
  const tags = { same: "span", out: "del", in: "ins" };
  return el("div", { class: "text" }, differences(first, second).map(([kind, text]) => el(tags[kind], {}, text)));
}
