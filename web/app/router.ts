/** Where the page is: its address → which view of what, and the way to another one. The address is all there is of it. */
import { useSyncExternalStore } from 'react';

export type Place = { query: URLSearchParams } & (
  | { page: 'home' | 'new' | 'compare' | 'settings' | 'nowhere' }
  | { page: 'run'; repository: string; run: string }
);

const PLACES: Record<string, 'home' | 'new' | 'compare' | 'settings'> = {
  '/': 'home',
  '/new': 'new',
  '/compare': 'compare',
  '/settings': 'settings',
};

function placeOf({ pathname, search }: Pick<URL, 'pathname' | 'search'>): Place {
  const query = new URLSearchParams(search);
  const [, repository, run] = /^\/r\/([^/]+)\/([^/]+)$/.exec(pathname) ?? [];
  if (repository !== undefined && run !== undefined) {
    const [name, id] = [decoded(repository), decoded(run)];
    return name === undefined || id === undefined
      ? { page: 'nowhere', query }
      : { page: 'run', repository: name, run: id, query };
  }
  return { page: PLACES[pathname] ?? 'nowhere', query };
}

/** The address of a run, or of something within it. */
export function runHref(repository: string, run: string, query: Record<string, string> = {}): string {
  const search = new URLSearchParams(query).toString();
  const path = `/r/${encodeURIComponent(repository)}/${encodeURIComponent(run)}`;
  return search === '' ? path : `${path}?${search}`;
}

/** `replace`: the way back passes over where the page was, as for each moment of a film that is wound. */
export function go(href: string, { replace = false }: { replace?: boolean } = {}): void {
  if (replace) replaceSoon(href);
  else {
    write();
    history.pushState(null, '', href);
  }
  for (const listener of listeners) listener();
}

/** Of a film that is dragged, many a second: browsers take no more than 200 in ten seconds. */
const WRITE_MS = 100;
/** Where the page is, as long as the address does not say so. */
let unwritten: string | undefined;
let writing: ReturnType<typeof setTimeout> | undefined;

function replaceSoon(href: string): void {
  unwritten = href;
  if (writing !== undefined) return;
  write();
  writing = setTimeout(() => {
    writing = undefined;
    write();
  }, WRITE_MS);
}

function write(): void {
  if (unwritten !== undefined) history.replaceState(null, '', unwritten);
  unwritten = undefined;
}

/** Path and query. */
function here(): string {
  return unwritten ?? location.pathname + location.search;
}

/** The same place with some of its query changed; null takes one out. @public */
export function changeQuery(
  changes: Record<string, string | null>,
  { replace = true }: { replace?: boolean } = {},
): void {
  const { pathname, searchParams: query } = new URL(here(), location.origin);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) query.delete(name);
    else query.set(name, value);
  }
  const search = query.toString();
  go(search === '' ? pathname : `${pathname}?${search}`, { replace });
}

export function usePlace(): Place {
  const href = useSyncExternalStore(listen, here);
  return placeOf(new URL(href, location.origin));
}

const listeners = new Set<() => void>();

function listen(listener: () => void): () => void {
  const popped = (): void => {
    unwritten = undefined; // it was of the place that was left
    listener();
  };
  listeners.add(listener);
  addEventListener('popstate', popped);
  return () => {
    listeners.delete(listener);
    removeEventListener('popstate', popped);
  };
}

/** A plain click on a link of ours changes the place; any other is the browser's. */
export function followLinks(): () => void {
  const onClick = (event: MouseEvent): void => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (!link || link.target !== '' || link.hasAttribute('download') || link.origin !== location.origin)
      return;
    if (placeOf(link).page === 'nowhere') return;
    event.preventDefault();
    go(link.pathname + link.search);
    scrollTo(0, 0);
  };
  document.addEventListener('click', onClick);
  return () => document.removeEventListener('click', onClick);
}

function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
