// Values in a table: one glance each. The whole value is in the panel beside it.

import { count, counted, h } from "./dom.js";
import { glimpse, isMedia } from "./media.js";

const SHOWN = 260;
const BEFORE_MATCH = 60;
const MOST_PICTURES = 4;
const DIGITS = 6;

export function cell(value, searched = "") {
  if (value === null || value === undefined) return h("span", { className: "null", text: "null" });
  if (typeof value === "number") return h("span", { className: "figure", text: figure(value), title: String(value) });
  if (typeof value === "boolean") return h("span", { className: "bool", text: String(value) });
  const draw = CELLS[value.t];
  return draw ? draw(value, searched) : h("span", { text: JSON.stringify(value) });
}

const figure = (value) => (Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(DIGITS))));

const CELLS = {
  text: (value, searched) =>
    value.v === "" ? h("span", { className: "null", text: "empty" }) : text("span", value.v, searched),
  code: (value, searched) => text("code", value.v, searched),
  label: (value) => h("span", { className: "label", text: value.name ?? value.v, title: String(value.v) }),
  chat: (value, searched) => turns(value.v, searched),
  json: (value, searched) => nested(value.v, searched),
  image: glimpse,
  audio: glimpse,
  video: glimpse,
  bytes: (value) => h("span", { className: "quiet", text: `${count(value.length)} bytes` }),
  error: (value) => h("span", { className: "wrong text", text: value.v }),
};

const text = (tag, value, searched) => h(tag, { className: "text", dir: "auto" }, marked(value, searched));

// The beginning of a text, or what surrounds the words that were searched for.
function marked(value, searched) {
  const at = searched ? value.toLowerCase().indexOf(searched.toLowerCase()) : -1;
  const start = at > SHOWN - searched.length ? at - BEFORE_MATCH : 0;
  const shown = `${start ? "…" : ""}${value.slice(start, start + SHOWN)}${start + SHOWN < value.length ? "…" : ""}`;
  if (at < 0) return shown;
  const place = at - start + (start ? 1 : 0);
  const end = place + searched.length;
  return [shown.slice(0, place), h("mark", { text: shown.slice(place, end) }), shown.slice(end)];
}

// The first turns in a line: those of people and models, or those that say what was searched for.
function turns(all, searched) {
  const isWanted = (turn) =>
    searched ? said(turn.content).toLowerCase().includes(searched.toLowerCase()) : turn.role !== "system";
  const start = Math.max(all.findIndex(isWanted), 0);
  return h(
    "span",
    { className: "turns" },
    h("span", { className: "badge", text: counted(all.length, "turn") }),
    all
      .slice(start, start + 2)
      .map((turn) =>
        h("span", { className: "turn" }, h("b", { text: turn.role ?? "?" }), " ", marked(said(turn.content), searched)),
      ),
  );
}

function nested(value, searched) {
  const pictures = (Array.isArray(value) ? value : Object.values(value || {})).filter(isMedia);
  if (!pictures.length) return text("code", JSON.stringify(value), searched);
  const more = pictures.length - MOST_PICTURES;
  return h("span", { className: "pictures" }, pictures.slice(0, MOST_PICTURES).map(glimpse), more > 0 && `+${more}`);
}

function said(content) {
  if (content === null || content === undefined) return "";
  return typeof content === "string" ? content : JSON.stringify(content);
}
