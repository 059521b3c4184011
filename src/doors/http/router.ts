/** Finds the route of an address, and the values in it. It knows nothing of what the routes do. */
import { HttpProblem } from './problem.ts';

export interface Found<R> {
  route: R;
  /** By the names in braces. */
  values: Record<string, string>;
}

interface Branch<R> {
  /** By what the segment must be. */
  fixed: Map<string, Branch<R>>;
  any?: Branch<R>;
  /** By method; names are those of its braces, in their order. */
  routes: Map<string, { route: R; names: string[] }>;
}

export class Router<R extends { method: string; path: string }> {
  readonly #root: Branch<R> = { fixed: new Map(), routes: new Map() };

  constructor(routes: readonly R[]) {
    for (const route of routes) this.#add(route);
  }

  /** Throws where there is nothing at that address, or not for that method. */
  find(method: string, path: string): Found<R> {
    let at: Branch<R> | undefined = this.#root;
    const given: string[] = [];
    for (const segment of path.split('/').slice(1)) {
      const next: Branch<R> | undefined = at.fixed.get(segment);
      if (!next && at.any) given.push(decoded(segment));
      at = next ?? at.any;
      if (!at) break;
    }
    if (!at || at.routes.size === 0)
      throw new HttpProblem(404, 'not-found', 'there is nothing at this address');
    const found = at.routes.get(method === 'HEAD' ? 'GET' : method);
    if (!found) {
      const allow = [...at.routes.keys()].join(', ');
      throw new HttpProblem(405, 'usage', `this address takes ${allow} only`, { headers: { allow } });
    }
    return {
      route: found.route,
      values: Object.fromEntries(found.names.map((name, n) => [name, given[n]!])),
    };
  }

  #add(route: R): void {
    let at = this.#root;
    const names: string[] = [];
    for (const segment of route.path.split('/').slice(1)) {
      const name = /^\{(\w+)\}$/.exec(segment)?.[1];
      if (name !== undefined) {
        names.push(name);
        at = at.any ??= { fixed: new Map(), routes: new Map() };
      } else {
        let next = at.fixed.get(segment);
        if (!next) at.fixed.set(segment, (next = { fixed: new Map(), routes: new Map() }));
        at = next;
      }
    }
    at.routes.set(route.method, { route, names });
  }
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new HttpProblem(400, 'usage', 'the address has a % that begins no character');
  }
}
