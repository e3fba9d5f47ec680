// Texts for the clipboard.

import { h } from "./dom.js";

export async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  // Browsers have no clipboard for pages of other machines that are not encrypted.
  const place = h("textarea", { value: text });
  document.body.append(place);
  place.select();
  document.execCommand("copy");
  place.remove();
}

export function copyButton(name, text) {
  const button = h("button", { type: "button", className: "copy", text: name });
  button.addEventListener("click", async () => {
    const said = await copy(await text()).then(
      () => "copied",
      () => "not copied",
    );
    button.textContent = said;
    setTimeout(() => (button.textContent = name), 1200);
  });
  return button;
}
