// One sample: what was asked, the target, and what every run answered, with what was read out of it marked.

import { ask, asked, go, withQuery } from "../asking.js";
import { count, h } from "../dom.js";
import { tree } from "../tree.js";
import { written } from "../written.js";
import { differenceText } from "../../report/diff.js";
import { answerText, choiceList, contentOf, mark } from "../../report/samples.js";
import { asText, bar, comparePage, modelCell, namesOf, runPage, samplePage, section } from "./pieces.js";

export async function draw(put, id, sample) {
  const page = new SamplePage(put, id, sample);
  await page.again();
  return page;
}

class SamplePage {
  constructor(put, id, sample) {
    Object.assign(this, { put, id, sample });
    this.keys = (event) => this.press(event);
  }

  end() {
    removeEventListener("keydown", this.keys);
  }

  async again() {
    this.facts = await ask(`/results/${this.id}/sample/${encodeURIComponent(this.sample)}`, asked());
    document.title = `Sample ${this.sample}`;
    const { facts } = this;
    this.put(
      bar(facts.id, this.back(), this.steps(), this.where()),
      h("main", { className: "results sample" }, this.question(), this.answers(), this.differences(), this.more()),
    );
    addEventListener("keydown", this.keys); // a second time it changes nothing
  }

  back() {
    const { runs, kind, metric } = asked();
    const several = (runs || "").includes(",");
    if (several) return h("a", { href: comparePage(this.id, { runs, kind, metric }), text: "comparison" });
    return h("a", { href: withQuery(runPage(this.id, runs), { kind, metric }), text: "run" });
  }

  steps() {
    const { previous, next } = this.facts;
    return [this.step("← previous", previous, "keys: ← or k"), this.step("next →", next, "keys: → or j")];
  }

  step(text, to, title) {
    return h("button", { type: "button", text, title, disabled: to === null, onclick: () => this.go(to) });
  }

  where() {
    const { place, total } = this.facts;
    return place !== null && h("span", { className: "quiet", text: `${count(place + 1)} of ${count(total)}` });
  }

  go(to) {
    if (to !== null) go(samplePage(this.id, to, asked()));
  }

  press(event) {
    if (event.target.closest("input, textarea, select") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (["ArrowLeft", "k"].includes(event.key)) this.go(this.facts.previous);
    if (["ArrowRight", "j"].includes(event.key)) this.go(this.facts.next);
  }

  question() {
    const { facts } = this;
    return [
      section("Question", null, prompt(facts.input)),
      facts.choices?.length > 0 && section("Choices", null, choiceList(facts)),
      section("Target", null, h("div", { className: "text" }, answerText(facts.target) || "–")),
    ];
  }

  answers() {
    const names = namesOf(this.facts.answers);
    const draw = (answer, at) =>
      h(
        "div",
        { className: "answer" },
        h("h3", {}, modelCell(this.id, answer, at, names[at]), answer.epoch > 0 && ` repetition ${answer.epoch + 1}`),
        outcomes(answer.outcomes),
        h("div", { className: "text completion" }, highlighted(answer)),
      );
    return section("Answers", null, h("div", { className: "answers" }, this.facts.answers.map(draw)));
  }

  differences() {
    const { answers } = this.facts;
    const [first, last] = [answers[0], answers.at(-1)].map((answer) => asText(answerText(answer.prediction)));
    if (answers.length < 2 || first === last) return null;
    const names = namesOf(answers);
    const sides = [h("del", { text: names[0] }), " → ", h("ins", { text: names.at(-1) })];
    const about = h("p", { className: "about" }, sides);
    return section("Words in which the answers differ", null, about, differenceText(first, last));
  }

  more() {
    const { metadata } = this.facts;
    return Object.keys(metadata || {}).length > 0 && section("Metadata", null, tree(metadata));
  }
}

function prompt(input) {
  if (!Array.isArray(input)) return typeof input === "string" ? written(input) : tree(input);
  return h("div", { className: "chat" }, input.map(turn));
}

const SIDES = { user: "asks", system: "frames", developer: "frames", tool: "tool" };

function turn(message) {
  const role = typeof message?.role === "string" ? message.role : "message";
  const content = message && typeof message === "object" ? message.content : message;
  const said = typeof content === "string" ? written(content) : h("div", { className: "text" }, contentOf(content));
  return h("div", { className: `bubble ${SIDES[role] || "answers"}` }, h("b", { text: role }), said);
}

const read = (outcome) => ` ${asText(outcome.extracted)}`;

function outcomes(all) {
  const told = ([key, outcome]) => [
    h("dt", {}, mark([outcome.value, outcome.status])),
    h("dd", {}, key, outcome.extracted !== null && h("span", { className: "read", text: read(outcome) })),
    outcome.detail !== null && [h("dt", { text: "because" }), h("dd", { text: asText(outcome.detail) })],
  ];
  return h("dl", {}, Object.entries(all).map(told));
}

// Marks may overlap: what lies in one of them is marked once. They count characters, as Python does.
function highlighted({ prediction, marks }) {
  if (typeof prediction !== "string") return answerText(prediction) || "–";
  const signs = [...prediction];
  const parts = [];
  let at = 0;
  for (const [start, end] of marks) {
    if (end <= at) continue;
    parts.push(signs.slice(at, Math.max(start, at)).join(""));
    parts.push(h("mark", { text: signs.slice(Math.max(start, at), end).join("") }));
    at = end;
  }
  return [...parts, signs.slice(at).join("")];
}
