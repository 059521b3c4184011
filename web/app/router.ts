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
  if (replace) history.replaceState(null, '', href);
  else history.pushState(null, '', href);
  for (const listener of listeners) listener();
}

/** The same place with some of its query changed; null takes one out. @public */
export function changeQuery(
  changes: Record<string, string | null>,
  { replace = true }: { replace?: boolean } = {},
): void {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) query.delete(name);
    else query.set(name, value);
  }
  const search = query.toString();
  go(search === '' ? location.pathname : `${location.pathname}?${search}`, { replace });
}

export function usePlace(): Place {
  const href = useSyncExternalStore(listen, () => location.pathname + location.search);
  return placeOf(new URL(href, location.origin));
}

const listeners = new Set<() => void>();

function listen(listener: () => void): () => void {
  listeners.add(listener);
  addEventListener('popstate', listener);
  return () => {
    listeners.delete(listener);
    removeEventListener('popstate', listener);
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
