// Light, dark, or as the system has it; the choice is kept in this browser.

import { h, replace } from "./dom.js";

const KEY = "crucible-theme";
const NEXT = { "": "dark", dark: "light", light: "" };
const NAMES = { "": "as the system", dark: "dark", light: "light" };

const kept = () => {
  try {
    return localStorage.getItem(KEY) || "";
  } catch {
    return "";
  }
};

export function theme(choice = kept()) {
  if (choice) document.documentElement.dataset.theme = choice;
  else delete document.documentElement.dataset.theme;
  try {
    localStorage.setItem(KEY, choice);
  } catch {
    // A browser that keeps nothing still shows the colours.
  }
}

export function themeButton() {
  const button = h("button", { type: "button", className: "theme" });
  const label = () => {
    replace(button, "◐ ", h("span", { text: NAMES[kept()] }));
    button.title = `colours: ${NAMES[kept()]}`;
    button.setAttribute("aria-label", button.title);
  };
  button.addEventListener("click", () => {
    theme(NEXT[kept()]);
    label();
  });
  label();
  return button;
}
