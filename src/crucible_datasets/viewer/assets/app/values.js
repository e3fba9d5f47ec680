// One value, whole, as its kind is best read.

import { bubbles } from "./chat.js";
import { code } from "./code.js";
import { count, h } from "./dom.js";
import { folded } from "./folding.js";
import { isMedia, media } from "./media.js";
import { isLabel, tree } from "./tree.js";
import { written } from "./written.js";

export function whole(value, language = null) {
  if (value === null || value === undefined) return h("span", { className: "null", text: "null" });
  if (typeof value !== "object") return h("span", { className: "figure", text: String(value) });
  const draw = WHOLE[value.t];
  return draw ? draw(value, language) : tree(value);
}

const WHOLE = {
  text: (value, language) =>
    value.v === "" ? h("span", { className: "null", text: "empty" }) : written(value.v, language),
  code: (value) => folded(value.v, code(value.v, value.lang)),
  label: (value) => h("span", { className: "label", text: value.name ?? value.v, title: String(value.v) }),
  chat: (value) => bubbles(value.v),
  json: (value) => tree(value.v),
  image: media,
  audio: media,
  video: media,
  bytes: (value) => h("span", { text: `${count(value.length)} bytes` }),
  error: (value) => h("span", { className: "wrong", text: value.v }),
};

// The value alone, without what the page knows of its kind: as a row of a JSON file has it.
export function bare(value) {
  if (value === null || typeof value !== "object") return value;
  if (value.t === "chat") return value.v.map(({ role, content, more }) => ({ role, content, ...(more || {}) }));
  if (value.t === "bytes") return { bytes: value.length };
  return isMedia(value) ? { path: value.path } : inner(value.v);
}

function inner(value) {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(inner);
  if (isLabel(value) || isMedia(value)) return bare(value);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, inner(each)]));
}
