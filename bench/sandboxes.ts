/** Which sandboxes of an engine have a process left, read from /proc. It knows nothing of bosun and ends nothing. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

interface Process {
  pid: number;
  parent: number;
  /** Its pid namespace. */
  space: string;
}

interface Sandbox {
  launcher: number;
  spaces: Set<string>;
}

/** Those that are there now: each child of the engine with something below it that is in another pid namespace. */
export class Sandboxes {
  readonly #all: Sandbox[];
  /** Looking must cost little, for what is looked at shares the machine: what was no sandbox's is not read again. */
  readonly #others: Set<number>;

  constructor(engine: number) {
    const processes = list();
    const children = Map.groupBy(processes, ({ parent }) => parent);
    const spacesBelow = (pid: number): string[] =>
      (children.get(pid) ?? []).flatMap((child) => [child.space, ...spacesBelow(child.pid)]);
    this.#all = (children.get(engine) ?? [])
      .map(({ pid, space }) => ({ launcher: pid, space, spaces: new Set(spacesBelow(pid)) }))
      .filter(({ space, spaces }) => spaces.size > 0 && !spaces.has(space));
    const launchers = new Set(this.#all.map(({ launcher }) => launcher));
    const inside = new Set(this.#all.flatMap(({ spaces }) => [...spaces]));
    const others = processes.filter(({ pid, space }) => !launchers.has(pid) && !inside.has(space));
    this.#others = new Set(others.map(({ pid }) => pid));
  }

  get count(): number {
    return this.#all.length;
  }

  /** How many have a process left, dead ones that nobody has waited for included. */
  left(): number {
    const pids = new Set(pidsNow());
    const spaces = new Set([...pids].filter((pid) => !this.#others.has(pid)).map(spaceOf));
    return this.#all.filter(
      (each) => pids.has(each.launcher) || [...each.spaces].some((space) => spaces.has(space)),
    ).length;
  }
}

function list(): Process[] {
  return pidsNow().flatMap((pid) => {
    const space = spaceOf(pid);
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
      const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
      return space === undefined ? [] : [{ pid, parent, space }];
    } catch {
      return []; // gone meanwhile
    }
  });
}

function pidsNow(): number[] {
  return readdirSync('/proc').map(Number).filter(Number.isInteger);
}

/** Undefined where it is gone, or another user's. */
function spaceOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`);
  } catch {
    return undefined;
  }
}
