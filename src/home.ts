/** Where bosun keeps what it has: the directory `.bosun` of a repository. Nothing else there is ever written. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { chmod, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { fileName } from './base/file-name.ts';
import { BosunError } from './contract/errors.ts';
import { writeIgnore } from './system/bosun-ignore.ts';
import { removeTree } from './system/remove-tree.ts';
import { sandboxUid } from './system/sandbox-user.ts';

export class Home {
  /** The top of the repository. */
  readonly top: string;
  readonly directory: string;

  constructor(top: string) {
    this.top = top;
    this.directory = path.join(top, '.bosun');
  }

  get journal(): string {
    return path.join(this.directory, 'journal.db');
  }

  get lock(): string {
    return path.join(this.directory, 'engine.lock');
  }

  /** A person's, and shared with everybody who has the repository. */
  get config(): string {
    return path.join(this.directory, 'config.yaml');
  }

  /** Reports and artifacts of a run. */
  run(id: string): string {
    return path.join(this.directory, 'runs', id);
  }

  /** Where attempts' sockets lie; the kernel takes short paths only. */
  get sockets(): string {
    return path.join(this.directory, 's');
  }

  /** Where the files lie through which attempts get their prompts and give their outputs. */
  get attempts(): string {
    return path.join(this.directory, 'attempts');
  }

  /** What the agents of a task remember from one attempt to the next: their settings and conversations. */
  memory(run: string, task: string): string {
    return path.join(this.memories, fileName(`${run}.${task}`));
  }

  get memories(): string {
    return path.join(this.directory, 'memory');
  }

  /** A directory that stays empty. */
  get empty(): string {
    return path.join(this.directory, 'empty');
  }

  /** The directory with an attempt's own files. */
  attempt(run: string, task: string, attempt: number): string {
    return path.join(this.attempts, fileName(`${run}.${task}@${attempt}`));
  }
}

/** `.bosun` itself, and the directories below it that attempts have something in. */
const PLACES = ['', 'attempts', 'memory', 'empty', 's', 'bases', 'copies', 'layers', 'workspaces', 'scratch'];
const PASSAGE = 0o755;

export async function createHome(top: string): Promise<Home> {
  const home = new Home(top);
  try {
    await Promise.all(
      PLACES.map(async (name) => {
        const directory = path.join(home.directory, name);
        await mkdir(directory, { recursive: true });
        // Agents may run as somebody else, who must get to what is his; there is nothing to list on the way.
        if (sandboxUid !== undefined) await chmod(directory, PASSAGE);
      }),
    );
    await writeIgnore(home.directory);
  } catch (cause) {
    const why = (cause as Error).message;
    throw new BosunError(
      'system',
      `cannot write to ${home.directory}: ${why}; bosun keeps its journal and workspaces there, so make it writable`,
      { cause },
    );
  }
  return home;
}

/** A copy of /etc is made again where it is missing; one of a machine that has changed since is of no use. */
const ETC_MS = 7 * 24 * 3600 * 1000;

/** Takes away what attempts of a killed engine left; whoever calls it holds the lock. */
export async function clearAttempts(home: Home): Promise<void> {
  for (const directory of [home.attempts, home.sockets])
    for (const name of readdirSync(directory))
      if (Number.parseInt(name, 10) !== process.pid) await removeTree(path.join(directory, name));
  for (const name of readdirSync(home.directory)) {
    const file = path.join(home.directory, name);
    if (name.startsWith('etc-') && Date.now() - statSync(file).mtimeMs > ETC_MS) await removeTree(file);
  }
}

/** The nearest `.bosun` with a journal, upwards from a directory. Runs no git: it must be quick. */
export function findHome(from: string): Home | undefined {
  for (let at = path.resolve(from); ; at = path.dirname(at)) {
    const home = new Home(at);
    if (existsSync(home.journal)) return home;
    if (at === path.dirname(at)) return undefined;
  }
}
