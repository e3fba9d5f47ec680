// Rows as the server gives them: some at a time, the last ones kept.

import { ask } from "./asking.js";

export const AT_ONCE = 100;
const PAGES_KEPT = 60;

const some = (path, question, number, signal) =>
  ask(`${path}/rows`, { ...question, offset: number * AT_ONCE, limit: AT_ONCE }, signal);

export const firstRows = (path, question) => some(path, question, 0);

export class Pages {
  constructor(path, question, signal, came) {
    Object.assign(this, { path, question, signal, came, wrong: null });
    this.pages = new Map();
    this.arrived = new Promise((arrive) => (this.arrive = arrive));
  }

  known(place) {
    return this.pages.get(Math.floor(place / AT_ONCE))?.rows?.[place % AT_ONCE];
  }

  async row(place) {
    const number = Math.floor(place / AT_ONCE);
    this.fetch(number, number);
    await this.pages.get(number).coming;
    return this.known(place);
  }

  fetch(first, last) {
    for (let number = first; number <= last; number += 1) if (!this.pages.has(number)) this.begin(number);
    while (this.pages.size > PAGES_KEPT) this.pages.delete(this.pages.keys().next().value);
  }

  begin(number) {
    this.take(number, some(this.path, this.question, number, this.signal));
  }

  take(number, coming) {
    const page = { rows: null };
    page.coming = coming.then(
      (answer) => {
        page.rows = answer.rows;
        this.came();
        this.arrive();
      },
      (error) => {
        if (error.name === "AbortError") return;
        this.wrong = error;
        this.came();
      },
    );
    this.pages.set(number, page);
  }
}
