/**
 * Where bosun keeps what it has: the directory `.bosun` of a repository. Nothing else there is ever written. Even the
 * quickest commands load this, so it imports next to nothing.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileName } from './base/file-name.ts';

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

  /** The engine's own git directory. */
  get git(): string {
    return path.join(this.directory, 'git');
  }

  get runs(): string {
    return path.join(this.directory, 'runs');
  }

  /** Reports and artifacts of a run. */
  run(id: string): string {
    return path.join(this.runs, id);
  }

  /** What attempts changed, where workspaces are layers; and where they are mounted, or are copies. */
  get layers(): string {
    return path.join(this.directory, 'layers');
  }

  get workspaces(): string {
    return path.join(this.directory, 'workspaces');
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

/** The nearest `.bosun` with a journal, or with work of runs whose journal is gone, upwards from a directory. Runs no git: it must be quick. */
export function findHome(from: string): Home | undefined {
  for (let at = path.resolve(from); ; at = path.dirname(at)) {
    const home = new Home(at);
    if (existsSync(home.journal) || existsSync(home.git)) return home;
    if (at === path.dirname(at)) return undefined;
  }
}
