// Texts as people wrote them: Markdown with formulas, a program, JSON, or plain. A button shows how it is stored.

import { code, looksLikeCode } from "./code.js";
import { h } from "./dom.js";
import { folded } from "./folding.js";
import { markdown } from "./markdown.js";
import { tree } from "./tree.js";

const LOOKS_WRITTEN =
  /(^|\n)(#{1,6} |[-*] |\d+\. |> |```|~~~|\|.*\|)|\*\*[^*\n]+\*\*|`[^`\n]+`|\$[^$\n]+\$|\$\$|\\\(|\\\[|\]\(https?:/;
const LONGEST = 200_000;

export const plain = (text) => h("pre", { className: "plain", dir: "auto", text });

export function written(text, language = null) {
  return folded(text, text.length > LONGEST ? plain(text) : drawn(text, language));
}

function drawn(text, language) {
  const parsed = asJson(text);
  if (parsed !== null) return turnedOver(text, Promise.resolve(tree(parsed)));
  if (language || looksLikeCode(text)) return code(text, language);
  return LOOKS_WRITTEN.test(text) ? turnedOver(text, markdown(text)) : plain(text);
}

function asJson(text) {
  if (!/^\s*[[{][\s\S]*[\]}]\s*$/.test(text)) return null;
  try {
    const parsed = JSON.parse(text);
    return parsed && Object.keys(parsed).length ? parsed : null;
  } catch {
    return null;
  }
}

// The text as it is stored until the other way to see it is ready, and again when it is asked for.
function turnedOver(text, coming) {
  const stored = plain(text);
  const place = h("div", { className: "written" }, stored);
  coming.then((rendered) => {
    const button = h("button", { type: "button", className: "turn-over", text: "as stored" });
    button.addEventListener("click", () => {
      stored.hidden = !stored.hidden;
      rendered.hidden = !stored.hidden;
      button.textContent = stored.hidden ? "as stored" : "rendered";
    });
    stored.hidden = true;
    place.append(rendered, button);
  }, console.error);
  return place;
}
