// Scores of parts of the samples, as a chart: a line for each part and run.

import { h, replace } from "../dom.js";
import { intervalChart } from "../../report/charts.js";
import { section } from "./pieces.js";

export function groupCharts(groups, runs, names) {
  if (!groups.length) return null;
  const place = h("div", { id: "groups" });
  const options = groups.map((group, index) => h("option", { value: index, text: group.field }));
  const choice = h("select", { "aria-label": "field", onchange: () => show() }, options);
  const show = () => replace(place, chart(groups[Number(choice.value)], runs, names));
  show();
  const note = "Scores of parts of the samples; small groups have wide intervals.";
  return section("Groups", note, groups.length > 1 && choice, place);
}

function chart(group, runs, names) {
  const { share } = runs[group.runs[0]].scores[group.metric];
  const row = (part, at) => {
    const name = `${part.name} (${part.n})`;
    return { name: group.runs.length > 1 ? `${name} · ${names[at]}` : name, series: at, ...part.scores[at] };
  };
  const rows = group.groups.flatMap((part) => group.runs.filter((at) => part.scores[at]).map((at) => row(part, at)));
  return [
    h("h3", { text: `${group.metric} by ${group.field}` }),
    intervalChart(rows, share, `${group.metric} by ${group.field}`),
  ];
}
