// Where rows lie on a page. Browsers allow no page as tall as a million rows, so that in the middle of a long table
// a place in the scroll bar is a share of the rows. Small steps always move by as many pixels as they are long; near
// both ends the two agree, so that the ends can be reached.

import { later } from "./dom.js";

export const ROW_HEIGHT = 46;
const TALLEST = 6_000_000;
const TRUE_ENDS = 40_000;

export class Scale {
  constructor(rows, above) {
    this.rows = rows;
    this.above = above;
    this.height = rows * ROW_HEIGHT + above;
    this.drawn = Math.min(this.height, TALLEST);
    this.isTrue = this.drawn === this.height;
  }

  // From a place among all rows, in pixels, to a place in the scroll bar.
  toBar(at, sight) {
    const [far, long] = [this.height - sight, this.drawn - sight];
    if (this.isTrue || at <= TRUE_ENDS) return at;
    if (at >= far - TRUE_ENDS) return long - (far - at);
    return TRUE_ENDS + ((at - TRUE_ENDS) / (far - 2 * TRUE_ENDS)) * (long - 2 * TRUE_ENDS);
  }

  fromBar(bar, sight) {
    const [far, long] = [this.height - sight, this.drawn - sight];
    if (this.isTrue || bar <= TRUE_ENDS) return bar;
    if (bar >= long - TRUE_ENDS) return far - (long - bar);
    return TRUE_ENDS + ((bar - TRUE_ENDS) / (long - 2 * TRUE_ENDS)) * (far - 2 * TRUE_ENDS);
  }
}

// The place that is in sight, kept while the browser scrolls its bar.
export class Sight {
  constructor(element, scale, moved) {
    Object.assign(this, { element, scale, moved, at: 0, bar: 0 });
    this.settle = later(150, () => this.settled());
    element.scrollTop = 0;
    this.listen = () => this.scrolled();
    element.addEventListener("scroll", this.listen, { passive: true });
  }

  end() {
    this.ended = true;
    this.element.removeEventListener("scroll", this.listen);
  }

  get height() {
    return this.element.clientHeight;
  }

  get farthest() {
    return Math.max(this.scale.height - this.height, 0);
  }

  scrolled() {
    const bar = this.element.scrollTop;
    const step = bar - this.bar;
    if (!step) return;
    const isSmall = Math.abs(step) < 2 * this.height;
    this.at = this.within(isSmall ? this.at + step : this.scale.fromBar(bar, this.height));
    this.bar = bar;
    this.moved();
    this.settle();
  }

  within(at) {
    return Math.min(Math.max(at, 0), this.farthest);
  }

  show(at) {
    this.at = this.within(at);
    this.align();
    this.settle();
  }

  align() {
    this.element.scrollTop = this.scale.toBar(this.at, this.height);
    this.bar = this.element.scrollTop;
    this.moved();
  }

  // When nobody scrolls any more, the bar takes its place, and the address remembers it for "back" and for reloading.
  settled() {
    if (this.ended) return;
    if (!this.scale.isTrue) this.align();
    history.replaceState({ at: Math.round(this.at) }, "");
  }
}
