// Pictures, sounds and films. They come from this server, whatever the data says.

import { asked, withQuery } from "./asking.js";
import { h } from "./dom.js";

const KINDS = ["image", "audio", "video"];
const OURS = "/data/";

export const isMedia = (value) => KINDS.includes(value?.t) && String(value.src).startsWith(OURS);

// Rows of a query are counted in its answer, so their media are those of the query.
const source = (value) => withQuery(value.src, { sql: asked().sql });

export function media(value) {
  const name = value.path || value.t;
  if (value.t === "audio")
    return h("audio", { src: source(value), controls: true, preload: "metadata", "aria-label": name });
  if (value.t === "video")
    return h("video", { src: source(value), controls: true, preload: "metadata", "aria-label": name });
  const picture = h("img", { src: source(value), alt: name, loading: "lazy", decoding: "async" });
  picture.addEventListener("error", () => picture.replaceWith(unreadable(value)));
  return h("a", { href: source(value), target: "_blank", rel: "noopener", className: "picture", title: name }, picture);
}

export function glimpse(value) {
  if (value.t === "audio") return h("audio", { src: source(value), controls: true, preload: "none" });
  if (value.t === "video") return h("video", { src: source(value), preload: "metadata", muted: true });
  const picture = h("img", { src: source(value), alt: value.path || "", loading: "lazy", decoding: "async" });
  picture.addEventListener("error", () => picture.replaceWith(unreadable(value)));
  return picture;
}

const unreadable = (value) => h("span", { className: "wrong", text: `no ${value.t} that a browser can show` });
