// Messages as bubbles: who asks on the right, who answers on the left, what frames them across.

import { h } from "./dom.js";
import { tree } from "./tree.js";
import { written } from "./written.js";

const SIDES = {
  user: "asks",
  human: "asks",
  prompter: "asks",
  system: "frames",
  developer: "frames",
  tool: "tool",
  function: "tool",
  observation: "tool",
};

export const bubbles = (turns) => h("div", { className: "chat" }, turns.map(bubble));

function bubble({ role, content, more }) {
  const side = SIDES[String(role).toLowerCase()] || "answers";
  return h("div", { className: `bubble ${side}` }, h("b", { text: role ?? "?" }), said(content), more && tree(more));
}

function said(content) {
  if (content === null || content === undefined || content === "") return null;
  if (typeof content === "string") return written(content);
  return Array.isArray(content) ? content.map(part) : tree(content);
}

const part = (each) => (typeof each?.text === "string" ? written(each.text) : tree(each));
