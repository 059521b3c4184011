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

/**
 * Those that are there now: each child of the engine, or of the process that starts others for it, with something
 * below it that is in another pid namespace.
 */
export class Sandboxes {
  readonly #all: Sandbox[];
  /** Looking must cost little, for what is looked at shares the machine: what was no sandbox's is not read again. */
  readonly #others: Set<number>;

  constructor(engine: number) {
    const processes = list();
    const children = Map.groupBy(processes, ({ parent }) => parent);
    const spacesBelow = (pid: number): string[] =>
      (children.get(pid) ?? []).flatMap((child) => [child.space, ...spacesBelow(child.pid)]);
    const near = children.get(engine) ?? [];
    this.#all = [...near, ...near.flatMap(({ pid }) => children.get(pid) ?? [])]
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

  /** How many have a process left. One that is dead and only waits for init to take notice does nothing any more. */
  left(): number {
    const alive = pidsNow().filter((pid) => !this.#others.has(pid) && isAlive(pid));
    const pids = new Set(alive);
    const spaces = new Set(alive.map(spaceOf));
    return this.#all.filter(
      (each) => pids.has(each.launcher) || [...each.spaces].some((space) => spaces.has(space)),
    ).length;
  }
}

function list(): Process[] {
  return pidsNow().flatMap((pid) => {
    const [space, parent] = [spaceOf(pid), Number(statOf(pid)[1])];
    return space === undefined ? [] : [{ pid, parent, space }];
  });
}

function isAlive(pid: number): boolean {
  const [state = 'X'] = statOf(pid);
  return state !== 'Z' && state !== 'X';
}

/** The state, the parent, and more; nothing where it is gone. */
function statOf(pid: number): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
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
