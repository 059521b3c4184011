/**
 * The places of a repository's state, `<git common dir>/bosun`, and of the one file of the work tree that says what
 * people want of every run. Even the quickest commands load this, so it imports next to nothing.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileName } from '../base/file-name.ts';
import { BosunError } from '../contract/errors.ts';
import { isRunId } from './run-id.ts';
import { findGit, sandboxDirectory, stateDirectory, type GitPlace } from '../system/files/state-directory.ts';

/** A person's, and shared with everybody who has the repository. */
export function repositoryConfig(top: string): string {
  return path.join(top, '.bosun', 'config.yaml');
}

export class Home {
  /** The top of the user's work tree. */
  readonly top: string;
  /** The user's alone. */
  readonly directory: string;

  constructor({ top, commonDir }: GitPlace) {
    this.top = top;
    this.directory = stateDirectory(commonDir);
  }

  get journal(): string {
    return path.join(this.directory, 'journal.db');
  }

  /** Of whoever does what only one engine at a time may do: held for a moment. */
  get lock(): string {
    return path.join(this.directory, 'engine.lock');
  }

  /** A lock for each engine that is at work. */
  get engines(): string {
    return path.join(this.directory, 'engines');
  }

  /** Of the one merge that may be at work. */
  get mergeLock(): string {
    return path.join(this.directory, 'merge.lock');
  }

  /** What a merge that was cut off left. */
  get landing(): string {
    return path.join(this.directory, 'landing');
  }

  get config(): string {
    return repositoryConfig(this.top);
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
    if (!isRunId(id))
      throw new BosunError('journal', 'the journal is damaged: the id of a run is malformed; move it aside');
    return path.join(this.runs, id);
  }

  /** What attempts changed, where workspaces are layers; and where they are mounted, or are copies. */
  get layers(): string {
    return path.join(this.sandbox, 'layers');
  }

  get workspaces(): string {
    return path.join(this.sandbox, 'workspaces');
  }

  get sandbox(): string {
    return sandboxDirectory(this.directory);
  }

  /** Where attempts' sockets lie; the kernel takes short paths only. */
  get sockets(): string {
    return path.join(this.sandbox, 's');
  }

  /** Where the files lie through which attempts get their prompts and give their outputs. */
  get attempts(): string {
    return path.join(this.sandbox, 'attempts');
  }

  /** What the agents of a task remember from one attempt to the next: their settings and conversations. */
  memory(run: string, task: string): string {
    return path.join(this.memories, fileName(`${run}.${task}`));
  }

  get memories(): string {
    return path.join(this.sandbox, 'memory');
  }

  /** A directory that stays empty. */
  get empty(): string {
    return path.join(this.sandbox, 'empty');
  }

  /** The directory with an attempt's own files. */
  attempt(run: string, task: string, attempt: number): string {
    return path.join(this.attempts, fileName(`${run}.${task}@${attempt}`));
  }
}

/** The socket behind which a service of a run is; `directory` is the run's. */
export function servicePath(directory: string, name: string): string {
  return path.join(directory, 'services', `${name}.sock`);
}

/** The home of the repository that a directory is in, if a run was ever started there; its journal may be gone. Runs no git: it must be quick. */
export function findHome(from: string): Home | undefined {
  const git = findGit(from);
  const home = git && new Home(git);
  return home && (existsSync(home.journal) || existsSync(home.git)) ? home : undefined;
}
