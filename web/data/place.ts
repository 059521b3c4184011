/**
 * The place of this browser's session, which stands before each path that the page asks for: `/s/…`. Only pages of this
 * address can read it, and its cookie is sent nowhere else: a server on another port of this machine gets neither.
 */
const KEY = 'bosun-place';
const PLACE = /^\/s\/[\w-]{22}$/;

let place = stored();

/** A path of the server's, as this browser asks for it. */
export function placed(path: string): string {
  return place === undefined ? path : place + path;
}

export function sessionPlace(): string | undefined {
  return place;
}

/** Of a worker, which has no storage: what a tab tells it. */
export function setPlace(given: string | undefined): void {
  place = given !== undefined && PLACE.test(given) ? given : undefined;
}

/** For all tabs, also of later; undefined forgets it. */
export function keepPlace(given: string | undefined): void {
  setPlace(given);
  try {
    if (place === undefined) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, place);
  } catch {
    // where the browser keeps nothing, the session is this tab's, until it is loaded again
  }
}

function stored(): string | undefined {
  try {
    const found = localStorage.getItem(KEY);
    return found !== null && PLACE.test(found) ? found : undefined;
  } catch {
    return undefined;
  }
}
