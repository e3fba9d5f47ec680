// What is asked for, above the rows: configuration, split, words, a filter or a query, an order, a row.

import { change } from "./asking.js";
import { copyButton } from "./copying.js";
import { count, h, later, replace } from "./dom.js";
import { columnMenu, downloadMenu } from "./menus.js";
import { helpButton } from "./keys.js";
import { themeButton } from "./theme.js";

const IS_QUERY = /^\s*(select|with|from)\s/i;
const NOTHING = { q: null, where: null, sql: null, sort: null, seed: null, columns: null, row: null };
const WAIT = 350;

export function drawBar(place, page) {
  const { facts } = page;
  const keep = focusOf(place);
  replace(
    place,
    h("a", { className: "brand", href: "/", title: "Everything that is open", text: "Crucible" }),
    h("h1", { text: facts.dataset, title: facts.dataset }),
    configs(facts),
    splits(facts),
    searching(facts.asked),
    filtering(facts.asked),
    shuffling(facts.asked),
    goingTo(page),
    columnMenu(facts),
    downloadMenu(page.path, page.question()),
    copyButton("copy link", () => location.href),
    Object.keys(NOTHING).some((name) => name in facts.asked) && clearing(),
    h("span", { className: "gap" }),
    helpButton(),
    themeButton(),
  );
  keep();
}

// Drawing anew must not take the cursor from somebody who types.
function focusOf(place) {
  const { name, value, selectionStart } = document.activeElement || {};
  const within = name && place.contains(document.activeElement);
  return () => {
    const input = within && place.querySelector(`[name="${CSS.escape(name)}"]`);
    if (!input) return;
    const menu = input.closest("details");
    if (menu) menu.open = true;
    if (input.type === "search") input.value = value;
    input.focus();
    if (input.type === "search") input.setSelectionRange(selectionStart, selectionStart);
  };
}

function choice(name, options, chosen, pick) {
  if (options.length < 2) return null;
  const lines = options.map(([value, text]) => h("option", { value, text, selected: value === chosen }));
  return h("select", { name, "aria-label": name, title: name, onchange: (event) => pick(event.target.value) }, lines);
}

const configs = ({ configs: names, config }) =>
  choice(
    "configuration",
    names.map((name) => [name, name]),
    config || names[0],
    (wanted) => change({ ...NOTHING, config: wanted, split: null }),
  );

function splits({ splits: all, split }) {
  const told = ({ name, rows }) => [name, rows === null ? name : `${name} (${count(rows)})`];
  return choice("split", all.map(told), split, (wanted) => change({ split: wanted, row: null }));
}

function field(name, hint, value, send) {
  const facts = { type: "search", name, placeholder: hint, "aria-label": hint, spellcheck: false, autocomplete: "off" };
  const input = h("input", { ...facts, value: value || "" });
  input.addEventListener("keydown", (event) => event.key === "Enter" && send(input.value.trim()));
  input.addEventListener("search", () => send(input.value.trim()));
  return input;
}

function searching({ q }) {
  const send = (words, options) => change({ q: words, row: null }, options);
  const input = field("q", "search in texts", q, send);
  // While somebody types, one question takes the place of the other: "back" leads to before the search.
  input.addEventListener(
    "input",
    later(WAIT, () => send(input.value.trim(), { instead: Boolean(q) })),
  );
  return input;
}

function filtering({ where, sql }) {
  const send = (text) => {
    const isQuery = IS_QUERY.test(text);
    // The columns of a query are others than those of the rows.
    const others = isQuery || sql ? { columns: null, sort: null } : {};
    change({ sql: isQuery ? text : null, where: isQuery ? null : text, row: null, ...others });
  };
  return field("where", "filter: score > 3, or SQL: select …", sql || where, send);
}

function shuffling({ seed }) {
  const shuffle = (wanted) => change({ seed: wanted, row: null });
  const button = h("button", { type: "button", title: "another order, by a seed", text: "shuffle" });
  button.addEventListener("click", () => shuffle(seed === undefined ? 0 : seed + 1));
  if (seed === undefined) return button;
  const input = h("input", { className: "seed", name: "seed", type: "number", value: seed, "aria-label": "seed" });
  input.addEventListener("change", () => shuffle(input.value));
  return h("span", { className: "joined" }, button, input);
}

function goingTo(page) {
  const enter = (event) => event.key === "Enter" && event.target.value !== "" && page.goTo(Number(event.target.value));
  const facts = {
    className: "goto",
    name: "row",
    type: "number",
    min: 0,
    placeholder: "row",
    "aria-label": "go to row",
  };
  return h("input", { ...facts, onkeydown: enter });
}

const clearing = () =>
  h("button", {
    type: "button",
    name: "clear",
    text: "clear",
    title: "all rows in their own order",
    onclick: () => change(NOTHING),
  });
