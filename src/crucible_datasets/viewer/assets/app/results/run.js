// One run: its scores, scores of parts of its samples, its samples, and how all of it came about.

import { ask, asked, change } from "../asking.js";
import { counted, h } from "../dom.js";
import { tree } from "../tree.js";
import { intervalChart } from "../../report/charts.js";
import { groupCharts } from "./groups.js";
import { Listing } from "./listing.js";
import { bar, kindButtons, pressed, runsPage, section } from "./pieces.js";

export async function draw(put, id, run) {
  const facts = await ask(`/results/${id}/run/${encodeURIComponent(run)}`);
  const page = new RunPage(put, id, facts);
  await page.again();
  return page;
}

class RunPage {
  constructor(put, id, facts) {
    Object.assign(this, { id, facts });
    document.title = `${facts.model} on ${facts.dataset}`;
    this.listing = new Listing(id, [facts.run], [facts.model]);
    this.kinds = kindButtons(facts.kinds, "all", (kind) => change({ kind: kind === "all" ? null : kind, at: null }));
    for (const button of this.kinds.querySelectorAll(".fixed, .broken, .differing")) button.remove();
    put(
      bar(`${facts.model} on ${facts.dataset}`, h("a", { href: runsPage(id), text: "all runs" })),
      h(
        "main",
        { className: "results" },
        this.scores(),
        groupCharts(facts.groups, [facts], [facts.model]),
        section("Samples", null, this.kinds, this.listing.node),
        this.provenance(),
      ),
    );
  }

  async again() {
    pressed(this.kinds, asked().kind || "all");
    await this.listing.show();
  }

  scores() {
    const { scores } = this.facts;
    const chart = ([key, one]) => intervalChart([{ name: key, series: 0, ...one }], one.share, key);
    const charts = Object.entries(scores).map(chart);
    return section("Scores", counted(this.facts.samples, "sample"), charts);
  }

  provenance() {
    const { info, signatures, statuses } = this.facts;
    const rows = [...Object.entries(info), ["signatures", signatures], ["statuses", statuses]];
    return section("How it was measured", null, h("dl", { id: "provenance" }, rows.filter(isTold).map(told)));
  }
}

const isTold = ([, value]) =>
  value !== null && value !== "" && !(typeof value === "object" && !Object.keys(value).length);

function told([name, value]) {
  const isList = Array.isArray(value) && value.every((one) => typeof one === "string");
  const shown = isList ? value.join(", ") : typeof value === "object" ? tree(value) : String(value);
  return [h("dt", { text: name.replaceAll("_", " ") }), h("dd", {}, shown)];
}

