// One sample: the conversation, the target, what every model answered, and how two answers differ.

import { differenceText } from "./diff.js";
import { dot, el, number, visible } from "./dom.js";

const ROLES = new Set(["user", "assistant", "system", "tool"]);
// An image in an <img> runs nothing; only kinds that are no documents are shown.
const PICTURE = /^data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+$/;

export function contentOf(content) {
  if (!Array.isArray(content)) return [visible(content)];
  return content.map((part) => {
    if (typeof part === "string") return visible(part);
    const picture = pictureOf(part);
    if (picture) return el("img", { src: picture, alt: "image" });
    return visible(part && typeof part.text === "string" ? part.text : part);
  });
}

function pictureOf(part) {
  const picture = part && (part.image || (part.image_url && part.image_url.url));
  return typeof picture === "string" && PICTURE.test(picture) ? picture : null;
}

function messageNode(message) {
  const role = message && typeof message.role === "string" ? message.role : "message";
  const content = message && typeof message === "object" ? message.content : message;
  return el("div", { class: "message " + (ROLES.has(role) ? role : "") }, el("div", { class: "role" }, role), el("div", { class: "text" }, contentOf(content)));
}

export function conversation(input) {
  return Array.isArray(input) ? input.map(messageNode) : [messageNode({ role: "user", content: input })];
}

export function answerText(prediction) {
  if (prediction === null || prediction === undefined) return "";
  return Array.isArray(prediction) && prediction.every((one) => typeof one === "string") ? prediction.join("\n———\n") : typeof prediction === "string" ? prediction : JSON.stringify(prediction, null, 1);
}

export function mark(outcome) {
  if (!outcome) return el("span", {}, "–");
  const [value, status] = outcome;
  if (status !== "ok") return el("span", { class: "mark odd" }, status);
  const kind = value === 1 ? "good" : value === 0 ? "bad" : "";
  return el("span", { class: "mark " + kind }, value === 1 ? "right" : value === 0 ? "wrong" : number(value));
}

export function facts(pairs) {
  const said = pairs.filter(([, value]) => value !== null && value !== undefined && value !== "" && !(Array.isArray(value) && !value.length));
  return el("dl", {}, said.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, Array.isArray(value) && value.every((one) => typeof one === "string") ? value.join(", ") : value)]));
}

export function choiceList(sample) {
  const letter = typeof sample.target === "string" ? sample.target.trim() : "";
  return el("ol", { class: "choices" }, sample.choices.map((choice, index) =>
    el("li", { class: letter === String.fromCharCode(65 + index) ? "target" : null }, el("span", { class: "text" }, choice))));
}

function answerNode(answer, sample, report) {
  const run = report.runs[answer.run];
  const rows = Object.entries(answer.outcomes).map(([key, outcome]) => [key, outcome]);
  return el("div", { class: "answer" },
    el("h3", {}, dot(run.series), run.model),
    el("div", {}, rows.map(([key, outcome]) => [mark(outcome), " ", el("span", { class: "note" }, key), " "])),
    facts(rows.map(([key, outcome]) => [rows.length > 1 ? `read (${key})` : "read", outcome[2]])),
    el("h3", {}, "answer"),
    el("div", { class: "text" }, answerText(answer.prediction) || "–"));
}

function differenceNode(sample, report) {
  const names = sample.answers.map((answer, index) => el("option", { value: index }, report.runs[answer.run].model));
  const pick = (chosen) => {
    const select = el("select", { "aria-label": "model" }, names.map((name) => name.cloneNode(true)));
    select.value = String(chosen);
    return select;
  };
  const first = pick(0), second = pick(1), place = el("div", { class: "answer" });
  const show = () => {
    const texts = [first, second].map((one) => answerText(sample.answers[Number(one.value)].prediction));
    place.replaceChildren(texts[0] === texts[1] ? el("span", { class: "note" }, "the two answers are the same") : differenceText(...texts.map(visible)));
  };
  first.addEventListener("change", show);
  second.addEventListener("change", show);
  show();
  return [el("h3", {}, "words in which two answers differ"), el("div", { class: "pages" }, el("del", {}, "only in"), first, el("ins", {}, "only in"), second), place];
}

function sampleDialog(report) {
  const title = el("h2", {}), inside = el("div", { class: "inside" });
  const state = { rows: [], at: 0 };
  const step = (by) => () => show(state.rows, state.at + by);
  const back = el("button", { type: "button", onclick: step(-1) }, "← previous"), next = el("button", { type: "button", onclick: step(1) }, "next →");
  const close = el("button", { type: "button", onclick: () => node.close() }, "close");
  const node = el("dialog", { "aria-label": "sample" }, el("div", { class: "bar" }, title, back, next, close), inside);
  node.addEventListener("click", (event) => event.target === node && node.close());
  node.addEventListener("keydown", (event) => {
    if (event.target instanceof HTMLSelectElement) return;
    if (event.key === "ArrowLeft") step(-1)();
    if (event.key === "ArrowRight") step(1)();
  });

  function show(rows, at) {
    if (at < 0 || at >= rows.length) return;
    Object.assign(state, { rows, at });
    back.disabled = at === 0;
    next.disabled = at === rows.length - 1;
    const sample = rows[at];
    title.replaceChildren(visible(sample.id));
    inside.replaceChildren(...sampleParts(sample, report).flat());
    if (!node.open) node.showModal();
    node.scrollTop = 0;
  }
  return { node, show };
}

function sampleParts(sample, report) {
  const metadata = Object.entries(sample.metadata || {});
  return [
    conversation(sample.input),
    sample.choices && sample.choices.length ? [el("h3", {}, "choices"), choiceList(sample)] : [],
    el("h3", {}, "target"), el("div", { class: "text" }, contentOf(answerText(sample.target) || "–")),
    el("h3", {}, sample.answers.length > 1 ? "models" : "model"),
    el("div", { class: "answers" }, sample.answers.map((answer) => answerNode(answer, sample, report))),
    sample.answers.length > 1 ? differenceNode(sample, report) : [],
    metadata.length ? el("details", {}, el("summary", {}, "metadata"), facts(metadata)) : [],
  ];
}
