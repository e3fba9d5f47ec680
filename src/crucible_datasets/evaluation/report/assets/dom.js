"use strict";
// Elements are made of tag names and attributes that stand in this program; what comes from data only ever becomes text.

const SVG = "http://www.w3.org/2000/svg";
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** Text in which characters that reorder or hide others are written out. */
export function visible(value) {
  const text = typeof value === "string" ? value : value === null || value === undefined ? "" : JSON.stringify(value);
  return text.replace(CONTROLS, (one) => "\\u" + one.charCodeAt(0).toString(16).padStart(4, "0"));
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false) node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined) node.append(child instanceof Node ? child : visible(child));
  }
  return node;
}

export const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
export const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

export function number(value, digits = 3) {
  if (value === null || value === undefined) return "–";
  const rounded = Number(value.toFixed(digits));
  return Number.isInteger(value) ? String(value) : (Object.is(rounded, -0) ? 0 : rounded).toFixed(digits);
}

export function probability(value) {
  if (value === null || value === undefined) return "–";
  return value < 0.001 ? "< 0.001" : value.toFixed(3);
}

/** A score as people read it: shares in percent, anything else as it is. */
export function score(value, isShare) {
  if (value === null || value === undefined) return "–";
  return isShare ? (100 * value).toFixed(1) + " %" : value.toFixed(3);
}

export const series = (index) => "s" + (index % 8);
export const dot = (index) => el("span", { class: "dot " + series(index), "aria-hidden": "true" });
