// The page: what was measured, runs, comparisons, groups, samples.

const report = JSON.parse(document.getElementById("data").textContent);
report.shares = Object.fromEntries(report.metrics.map((metric) => [metric.key, metric.share]));

const section = (title, note, ...children) => el("section", {}, el("h2", {}, title), note ? el("p", { class: "note" }, note) : null, children);
const modelCell = (run) => [dot(run.series), run.model];
const summaryOf = (run, key) => run.summary[key] || {};

function header() {
  const theme = el("button", { type: "button", id: "theme" }, "dark / light");
  theme.addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });
  const names = report.datasets.length > 3 ? `${report.datasets.length} benchmarks` : report.datasets.map((one) => one.name).join("; ");
  const said = `${report.runs.length} ${report.runs.length === 1 ? "run" : "runs"} · ${names} · ${report.created} · Crucible Datasets ${report.library}`;
  return el("header", {}, el("div", {}, el("h1", {}, report.title), el("p", { class: "note" }, said)), theme);
}

function charts() {
  const found = [];
  for (const dataset of report.datasets) {
    for (const { key, share } of report.metrics) {
      const rows = dataset.runs.map((at) => report.runs[at]).filter((run) => run.summary[key]).map((run) => ({ name: run.model, series: run.series, ...run.summary[key] }));
      if (!rows.length) continue;
      const level = rows.map((row) => row.level).find((one) => one);
      const note = `${key}${level ? `, with ${number(100 * level, 1).replace(/\.0$/, "")} % intervals (${rows.find((row) => row.level).method})` : ""}`;
      found.push(el("h3", {}, dataset.name, " ", el("span", { class: "note" }, note)), intervalChart(rows, share, `${key} on ${dataset.name}`));
    }
  }
  return section("Scores", null, found);
}

function runTable() {
  const rows = report.runs.flatMap((run) => Object.keys(run.summary).map((key) => ({ run, key, ...summaryOf(run, key) })));
  const search = el("input", { type: "search", id: "runs-filter", placeholder: "filter by model, benchmark, metric, tag …", "aria-label": "filter runs" });
  const kept = (row) => words(search.value).every((word) => [row.run.model, row.run.dataset, row.key, row.run.tags.join(" ")].join(" ").toLowerCase().includes(word));
  const table = sortedTable(rows, [
    { title: "model", value: (row) => row.run.model, cell: (row) => modelCell(row.run) },
    { title: "benchmark", value: (row) => row.run.dataset },
    { title: "metric", value: (row) => row.key },
    { title: "score", number: true, value: (row) => row.value, cell: (row) => score(row.value, report.shares[row.key]) },
    { title: "interval", value: (row) => row.low, cell: (row) => (typeof row.low === "number" ? `${score(row.low, report.shares[row.key])} – ${score(row.high, report.shares[row.key])}` : "–") },
    { title: "unparsed", number: true, value: (row) => row.unparsed_rate, cell: (row) => score(row.unparsed_rate, true) },
    { title: "among parsed", number: true, value: (row) => row.value_parsed, cell: (row) => score(row.value_parsed, report.shares[row.key]) },
    { title: "n", number: true, value: (row) => row.n },
  ], { kept, empty: "no run matches" });
  search.addEventListener("input", () => table.refresh(true));
  return section("Runs", "An answer that could not be read counts as wrong; “among parsed” is the score without those.", el("div", { class: "bar" }, search), el("div", { id: "runs" }, table.node));
}

function comparisons() {
  if (!report.comparisons.length) return report.comparison_note ? section("Comparisons", report.comparison_note) : null;
  const reach = Math.max(...report.comparisons.flatMap((row) => [row.difference, row.low, row.high]).filter((one) => typeof one === "number").map(Math.abs));
  const points = (row, value) => (value === null || value === undefined ? "–" : report.shares[row.metric] ? (value > 0 ? "+" : "") + (100 * value).toFixed(1) : (value > 0 ? "+" : "") + number(value));
  const columns = [
    { title: "model", value: (row) => row.a },
    { title: "against", value: (row) => row.b },
    { title: "difference", number: true, value: (row) => row.difference, cell: (row) => points(row, row.difference) },
    { title: "interval", number: true, value: (row) => row.low, cell: (row) => (typeof row.low === "number" ? `[${points(row, row.low)}, ${points(row, row.high)}]` : "–") },
    { title: "", kind: "chart", value: (row) => row.difference, cell: (row) => differenceChart(row, reach) },
    { title: "p", number: true, value: (row) => row.p, cell: (row) => probability(row.p) },
    { title: "adjusted p", number: true, value: (row) => row.p_adjusted, cell: (row) => probability(row.p_adjusted) },
    { title: "n", number: true, value: (row) => row.n },
  ];
  if (report.metrics.length > 1) columns.unshift({ title: "metric", value: (row) => row.metric });
  if (report.datasets.length > 1) columns.unshift({ title: "benchmark", value: (row) => row.dataset });
  const table = sortedTable(report.comparisons, columns);
  return section("Comparisons", report.comparison_note, el("div", { id: "comparisons" }, table.node));
}

function groups() {
  if (!report.groups.length) return null;
  const choice = el("select", { "aria-label": "field", id: "group" }, report.groups.map((group, index) => el("option", { value: index }, `${group.field} · ${group.dataset} · ${group.metric}`)));
  const place = el("div", { id: "groups" });
  const show = () => {
    const group = report.groups[Number(choice.value)];
    const share = report.shares[group.metric];
    const columns = [{ title: group.field, value: (row) => row.name }, { title: "n", number: true, value: (row) => row.n }];
    for (const at of group.runs) {
      columns.push({ title: report.runs[at].model, number: true, value: (row) => (row.scores[at] || {}).value, cell: (row) => {
        const one = row.scores[at] || {};
        const interval = typeof one.low === "number" ? ` [${score(one.low, share)}, ${score(one.high, share)}]`.replaceAll(" %", "") : "";
        return [score(one.value, share), el("span", { class: "note" }, interval)];
      } });
    }
    place.replaceChildren(sortedTable(group.groups, columns).node);
  };
  choice.addEventListener("change", show);
  show();
  return section("Groups", "Scores of parts of the samples; small groups have wide intervals.", el("div", { class: "bar" }, choice), place);
}

const words = (text) => text.toLowerCase().split(/\s+/).filter(Boolean);

const KINDS = {
  all: ["all samples", () => true],
  differ: ["models differ", (values) => new Set(values.map((one) => String(one[0]))).size > 1],
  wrong: ["all wrong", (values) => values.every((one) => !(one[0] > 0))],
  right: ["all right", (values) => values.every((one) => one[0] === 1)],
  unread: ["an answer could not be read", (values) => values.some((one) => one[1] !== "ok")],
};

function sampleTable() {
  if (!report.samples.length) return null;
  // Without a choice, each sample is judged by the first metric of its benchmark.
  const state = { key: "" };
  const keyOf = (answer) => state.key || Object.keys(answer.outcomes)[0];
  const outcomeOf = (answer) => answer && answer.outcomes[keyOf(answer)];
  const outcomesOf = (sample) => sample.answers.map(outcomeOf).filter(Boolean);
  for (const sample of report.samples) sample.haystack = [sample.id, JSON.stringify(sample.input), JSON.stringify(sample.target), JSON.stringify(sample.metadata), ...sample.answers.map((answer) => answerText(answer.prediction))].join("\n").toLowerCase();
  const search = el("input", { type: "search", id: "samples-filter", placeholder: "filter by words in question, target, answers, metadata …", "aria-label": "filter samples" });
  const kind = el("select", { "aria-label": "which samples", id: "kind" }, Object.entries(KINDS).map(([name, [title]]) => el("option", { value: name }, title)));
  const metric = el("select", { "aria-label": "metric", id: "metric" }, el("option", { value: "" }, "first metric"), report.metrics.map(({ key }) => el("option", { value: key }, key)));
  const dataset = el("select", { "aria-label": "benchmark", id: "dataset" }, el("option", { value: "" }, "all benchmarks"), report.datasets.map(({ name }, index) => el("option", { value: index }, name)));
  const isOf = (sample) => dataset.value === "" || report.datasets[Number(dataset.value)].runs.includes(sample.answers[0].run);
  const kept = (sample) => isOf(sample) && words(search.value).every((word) => sample.haystack.includes(word)) && KINDS[kind.value][1](outcomesOf(sample));
  const dialog = sampleDialog(report);
  const outcome = (sample, model) => outcomeOf(sample.answers.find((one) => report.runs[one.run].model === model));
  const columns = [{ title: "id", value: (sample) => sample.id, cell: (sample) => el("div", { class: "clip" }, sample.id) }];
  if (report.datasets.length > 1) columns.push({ title: "benchmark", value: (sample) => sample.dataset });
  columns.push(
    { title: "question", kind: "short", value: questionOf, cell: (sample) => el("div", { class: "clip" }, questionOf(sample).slice(0, 400)) },
    { title: "target", value: (sample) => answerText(sample.target), cell: (sample) => el("div", { class: "clip" }, answerText(sample.target).slice(0, 200)) });
  for (const model of report.models) {
    columns.push({ title: model, value: (sample) => (outcome(sample, model) || [null])[0], cell: (sample) => mark(outcome(sample, model)) });
  }
  const count = el("span", { class: "note", id: "count" });
  const table = sortedTable(report.samples, columns, { kept, opened: (sample, rows) => dialog.show(rows, rows.indexOf(sample)), empty: "no sample matches" });
  const refresh = () => {
    state.key = metric.value;
    table.refresh(true);
    count.replaceChildren(`${table.shown().length} of ${report.samples.length}`);
  };
  for (const control of [search, kind, metric, dataset]) control.addEventListener("input", refresh);
  refresh();
  return section("Samples", report.sample_note, el("div", { class: "bar" }, search, kind, report.datasets.length > 1 ? dataset : null, report.metrics.length > 1 ? metric : null, count), el("div", { id: "samples" }, table.node), dialog.node);
}

function questionOf(sample) {
  const input = sample.input;
  if (!Array.isArray(input)) return typeof input === "string" ? input : visible(input);
  const last = input.filter((message) => message && message.role !== "system").pop() || input[0] || {};
  if (!Array.isArray(last.content)) return visible(last.content);
  return last.content.map((part) => (pictureOf(part) ? "[image]" : visible(part && typeof part.text === "string" ? part.text : part))).join(" ");
}

function provenance() {
  return section("How it was measured", null, report.runs.map((run) => el("details", {}, el("summary", {}, modelCell(run), " on ", run.dataset), facts(run.facts))));
}

document.getElementById("page").replaceChildren(...[header(), charts(), comparisons(), runTable(), groups(), sampleTable(), provenance()].filter(Boolean));
