// Runs side by side: scores, differences, groups, and the samples that became right or wrong.

import { ask, asked, change } from "../asking.js";
import { h } from "../dom.js";
import { intervalChart } from "../../report/charts.js";
import { groupCharts } from "./groups.js";
import { Listing } from "./listing.js";
import { bar, differenceTable, kindButtons, metricsOf, modelCell } from "./pieces.js";
import { namesOf, pressed, runsPage, section } from "./pieces.js";

export async function draw(put, id) {
  const page = new ComparePage(put, id);
  await page.again();
  return page;
}

class ComparePage {
  constructor(put, id) {
    Object.assign(this, { put, id });
  }

  async again() {
    const { runs, metric } = asked();
    const wanted = `${runs} ${metric}`;
    if (this.asks !== wanted) {
      this.asks = wanted;
      const facts = await ask(`/results/${this.id}/compare`, { runs, metric });
      if (this.asks !== wanted) return; // another comparison has been asked for meanwhile
      this.fill(facts);
    }
    if (!this.listing) return;
    pressed(this.kinds, asked().kind || "all");
    await this.listing.show();
  }

  fill(facts) {
    const { runs } = facts;
    const names = namesOf(runs);
    document.title = `${names.join(", ")}: compared`;
    this.listing = new Listing(this.id, runs.map((run) => run.run), names);
    this.kinds = kindButtons(facts.kinds, "all", (kind) => change({ kind: kind === "all" ? null : kind, at: null }));
    this.put(
      bar("Comparison", this.back(), this.metric(runs)),
      h(
        "main",
        { className: "results" },
        this.scores(runs, names),
        this.differences(facts),
        groupCharts(facts.groups, runs, names),
        section("Samples", this.way(names), this.kinds, this.listing.node),
      ),
    );
  }

  back() {
    return h("a", { href: runsPage(this.id, { runs: asked().runs }), text: "all runs" });
  }

  way(names) {
    return `From ${names[0]} to ${names.at(-1)}: what became of each sample.`;
  }

  metric(runs) {
    const keys = metricsOf(runs).filter((key) => runs.every((run) => key in run.scores));
    const option = (key) => h("option", { value: key, text: key, selected: key === (asked().metric || keys[0]) });
    const choose = (event) => change({ metric: event.target.value, at: null });
    return keys.length > 1 && h("select", { "aria-label": "metric", onchange: choose }, keys.map(option));
  }

  scores(runs, names) {
    const charts = metricsOf(runs).map((key) => {
      const row = (run, at) => ({ name: names[at], series: at, ...run.scores[key] });
      const rows = runs.map((run, at) => (key in run.scores ? row(run, at) : null)).filter(Boolean);
      return [h("h3", { text: key }), intervalChart(rows, rows[0].share, key)];
    });
    const models = runs.map((run, at) => h("li", {}, modelCell(this.id, run, at, names[at]), ` on ${run.dataset}`));
    return section("Scores", null, h("ul", { className: "models" }, models), charts);
  }

  differences({ differences, note, runs }) {
    const isShare = (key) => runs.some((run) => run.scores[key]?.share);
    const shares = Object.fromEntries(metricsOf(runs).map((key) => [key, isShare(key)]));
    return section("Differences", note, differences.length > 0 && differenceTable(differences, shares));
  }
}
