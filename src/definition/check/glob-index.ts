/** Finds, among many globs, the few that could share a path with one: by the directories they begin with. */
import type { Glob } from '../../base/glob-syntax.ts';
import { fixedNames } from '../../base/globs.ts';

const NAMES_MAX = 16;

export class GlobIndex<T> {
  readonly #at = new Map<string, T[]>();
  /** Those at a directory, and all below it. */
  readonly #within = new Map<string, T[]>();

  add(glob: Glob, item: T): void {
    const places = placesOf(glob);
    put(this.#at, places.at(-1)!, item);
    for (const place of places) put(this.#within, place, item);
  }

  *near(glob: Glob): Iterable<T> {
    const places = placesOf(glob);
    for (const place of places.slice(0, -1)) yield* this.#at.get(place) ?? [];
    yield* this.#within.get(places.at(-1)!) ?? [];
  }
}

/** `a/b/*.ts` → '', 'a', 'a/b' */
function placesOf(glob: Glob): string[] {
  const names = fixedNames(glob).slice(0, NAMES_MAX);
  return Array.from({ length: names.length + 1 }, (_, n) => names.slice(0, n).join('/'));
}

function put<T>(map: Map<string, T[]>, key: string, item: T): void {
  const known = map.get(key);
  if (known) known.push(item);
  else map.set(key, [item]);
}
