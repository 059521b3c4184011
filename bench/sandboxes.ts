/** Which sandboxes of an engine have a process left, read from /proc. It knows nothing of bosun and ends nothing. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

interface Process {
  pid: number;
  parent: number;
  /** Tells a process from a later one of the same number. */
  started: string;
  /** Its pid namespace. */
  space: string;
}

interface Sandbox {
  launcher: string;
  spaces: Set<string>;
}

/** Those that are there now: each child of the engine with something below it that is in another pid namespace. */
export class Sandboxes {
  readonly #all: Sandbox[];

  constructor(engine: number) {
    const processes = list();
    const children = Map.groupBy(processes, ({ parent }) => parent);
    const spacesBelow = (pid: number): string[] =>
      (children.get(pid) ?? []).flatMap((child) => [child.space, ...spacesBelow(child.pid)]);
    this.#all = (children.get(engine) ?? [])
      .map((child) => ({ launcher: nameOf(child), space: child.space, spaces: new Set(spacesBelow(child.pid)) }))
      .filter(({ space, spaces }) => spaces.size > 0 && !spaces.has(space));
  }

  get count(): number {
    return this.#all.length;
  }

  /** The indices of those with a process left, dead ones that nobody has waited for included. */
  left(): Set<number> {
    const processes = list();
    const spaces = new Set(processes.map(({ space }) => space));
    const names = new Set(processes.map(nameOf));
    const left = this.#all.flatMap((each, index) =>
      names.has(each.launcher) || each.spaces.values().some((space) => spaces.has(space)) ? [index] : [],
    );
    return new Set(left);
  }
}

function nameOf({ pid, started }: Process): string {
  return `${pid}@${started}`;
}

function list(): Process[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1');
      const field = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const space = readlinkSync(`/proc/${name}/ns/pid`);
      return [{ pid: Number(name), parent: Number(field[1]), started: field[19]!, space }];
    } catch {
      return []; // gone meanwhile, or another user's
    }
  });
}
