// Questions to the server, and the address that holds the question of this page.

export class Refused extends Error {
  constructor(error) {
    super(error.message);
    this.kind = error.type;
    this.hint = error.hint;
  }
}

const isGiven = ([, value]) => value !== null && value !== undefined && value !== "";

// A name in a list of names: signs that have a meaning there are written as in addresses, and no name as "%".
const escaped = (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`;
export const listed = (name) => name.replace(/[%,]|^-/g, escaped) || "%";

export const words = (query) => new URLSearchParams(Object.entries(query).filter(isGiven));

export const withQuery = (path, query) => (words(query).size ? `${path}?${words(query)}` : path);

export async function ask(path, query = {}, signal = undefined) {
  const answer = await fetch(withQuery(`${path}.json`, query), { signal, credentials: "same-origin" });
  const said = await answer.json();
  if (said.error) throw new Refused(said.error);
  return said;
}

export const asked = () => Object.fromEntries(new URLSearchParams(location.search));

// Change the question of this page; null takes a part of it away. The address can be shared, and "back" undoes it,
// unless the new question only takes the place of the one before, as while somebody types. Whoever changes nothing
// about the rows stays at the place among them.
export function change(parts, { instead = false, stay = false } = {}) {
  const address = withQuery(location.pathname, { ...asked(), ...parts });
  if (address === `${location.pathname}${location.search}`) return;
  history[instead ? "replaceState" : "pushState"](stay ? history.state : null, "", address);
  dispatchEvent(new Event("asked"));
}

export function go(address) {
  history.pushState(null, "", address);
  dispatchEvent(new Event("asked"));
}
