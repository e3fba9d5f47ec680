// Elements are made here and nowhere else: what data says becomes text, never markup.

const SVG = "http://www.w3.org/2000/svg";
const UNSEEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

// Characters that hide others, or turn their order around, are spelled out.
export const visible = (text) =>
  String(text).replace(UNSEEN, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);

const isShown = (child) => child !== null && child !== undefined && child !== false;
const asNode = (child) => (child instanceof Node ? child : visible(child));
const nodes = (children) => children.flat(Infinity).filter(isShown).map(asNode);

function set(node, name, value) {
  if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
  else if (name === "text") node.textContent = visible(value);
  else if (name === "title") node.setAttribute("title", visible(value));
  else if (name in node && !name.startsWith("aria") && node.namespaceURI !== SVG && name !== "list") node[name] = value;
  else node.setAttribute(name, value === true ? "" : value);
}

function fill(node, facts, children) {
  for (const [name, value] of Object.entries(facts || {})) if (isShown(value)) set(node, name, value);
  node.append(...nodes(children));
  return node;
}

export const h = (tag, facts, ...children) => fill(document.createElement(tag), facts, children);
export const svg = (tag, facts, ...children) => fill(document.createElementNS(SVG, tag), facts, children);

export function replace(node, ...children) {
  node.replaceChildren(...nodes(children));
  return node;
}

export const count = (number) => (number === null || number === undefined ? "?" : number.toLocaleString("en"));

export const counted = (number, what) => `${count(number)} ${what}${number === 1 ? "" : "s"}`;

export function short(number) {
  if (number === null || number === undefined) return "";
  if (Number.isInteger(number) && Math.abs(number) < 1e6) return number.toLocaleString("en");
  if (Math.abs(number) >= 1e15) return number.toExponential(2);
  const notation = Math.abs(number) >= 1e6 ? "compact" : "standard";
  return number.toLocaleString("en", { maximumSignificantDigits: 3, notation });
}

export function later(milliseconds, work) {
  let timer;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...given), milliseconds);
  };
}

// The part of a path that tells folders from each other.
export const lastPart = (path) => path.replace(/[\\/]+$/, "").split(/[\\/]/).pop() || path;
