// Samples of one kind, page by page. The kind and the page are in the address.

import { ask, asked, change } from "../asking.js";
import { count, h, replace } from "../dom.js";
import { mark } from "../../report/samples.js";
import { asText, samplePage } from "./pieces.js";

const AT_ONCE = 25;

export class Listing {
  constructor(id, runs, names) {
    Object.assign(this, { id, runs, names });
    this.node = h("div", { id: "samples" });
  }

  async show() {
    const { kind = "all", metric, at = "0" } = asked();
    const offset = Math.max(0, Math.floor(Number(at)) || 0);
    const query = { runs: this.runs.join(","), kind, metric };
    const coming = ask(`/results/${this.id}/samples`, { ...query, offset, limit: AT_ONCE });
    this.coming = coming;
    const found = await coming;
    if (this.coming !== coming) return; // other samples have been asked for meanwhile
    replace(this.node, h("div", { className: "scroll" }, this.table(found, query)), this.pages(found, offset));
  }

  table(found, query) {
    const head = ["sample", "question", "target", ...this.names].map((text) => h("th", { scope: "col", text }));
    const body = found.samples.map((sample) => this.line(sample, query));
    const none = h("tr", {}, h("td", { colSpan: head.length, className: "quiet", text: "no sample is of this kind" }));
    return h("table", {}, h("thead", {}, h("tr", {}, head)), h("tbody", {}, body.length ? body : none));
  }

  line(sample, query) {
    const clip = (value) => h("td", {}, h("div", { className: "clip", text: glance(value) }));
    const answer = (one) => h("td", {}, one && [mark([one.value, one.status]), read(one)]);
    return h(
      "tr",
      {},
      h("td", {}, h("a", { href: samplePage(this.id, sample.id, query), text: sample.id })),
      clip(sample.input),
      clip(sample.target),
      sample.answers.map(answer),
    );
  }

  pages({ total }, offset) {
    const turn = (text, to, isThere) =>
      h("button", { type: "button", text, disabled: !isThere, onclick: () => change({ at: to || null }) });
    const last = Math.min(offset + AT_ONCE, total);
    return h(
      "div",
      { className: "pages" },
      turn("back", offset - AT_ONCE, offset > 0),
      turn("next", offset + AT_ONCE, last < total),
      h("span", { id: "count", text: total ? `${count(offset + 1)}–${count(last)} of ${count(total)}` : "none" }),
    );
  }
}

const read = (answer) =>
  answer.extracted !== null && h("span", { className: "read", text: ` ${asText(answer.extracted).slice(0, 60)}` });

// A conversation is told by what was asked last.
export function glance(input) {
  if (!Array.isArray(input)) return asText(input);
  const last = input.filter((turn) => turn && turn.role !== "system").pop();
  const content = last && typeof last === "object" ? last.content : last;
  if (!Array.isArray(content)) return asText(content);
  return content.map((part) => (part && typeof part.text === "string" ? part.text : "[…]")).join(" ");
}
