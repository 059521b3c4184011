/**
 * Where an agent is tried: scratch repositories below the user's cache directory, gone after use. It is not the system's
 * directory for temporary files, since some agents refuse a home there.
 */
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import type { Agent } from '../../contract/workflow.ts';
import { git } from '../../system/git/git.ts';
import { removeTree } from '../../system/files/remove-tree.ts';
import { Trial, type TrialWish } from './trial.ts';

export class Bench implements AsyncDisposable {
  readonly #directory: string;
  readonly #agent: Partial<Agent>;
  readonly #timeoutMs: number;
  readonly #signal: AbortSignal | undefined;
  #count = 0;
  /** What holds the agent, as the last trial found it. */
  isolation = '';
  /** How long each run took that ended by itself, and how many did not. */
  readonly endedMs: number[] = [];
  hungCount = 0;

  static async make(agent: Partial<Agent>, timeoutMs: number, signal?: AbortSignal): Promise<Bench> {
    const caches = cacheDirectory();
    await mkdir(caches, { recursive: true });
    return new Bench(await mkdtemp(path.join(caches, 'conformance-')), agent, timeoutMs, signal);
  }

  private constructor(
    directory: string,
    agent: Partial<Agent>,
    timeoutMs: number,
    signal: AbortSignal | undefined,
  ) {
    this.#directory = directory;
    this.#agent = agent;
    this.#timeoutMs = timeoutMs;
    this.#signal = signal;
  }

  /** A real run of the agent, in a repository of its own. */
  async try(wish: TrialWish): Promise<Trial> {
    const repository = path.join(this.#directory, String((this.#count += 1)));
    await mkdir(repository);
    const files = { 'README.md': 'A scratch repository.\n', ...wish.files };
    for (const [name, text] of Object.entries(files)) {
      const file = path.join(repository, name);
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, text);
    }
    await git(['init', '--quiet', '--initial-branch=main'], { cwd: repository });
    await git(['add', '--all', '--force'], { cwd: repository });
    await git(['commit', '--quiet', '--message', 'Start'], { cwd: repository });
    const trial = await Trial.make(repository, this.#agent, wish, {
      timeoutMs: this.#timeoutMs,
      signal: this.#signal,
    });
    trial.onIsolation = (text) => (this.isolation = text);
    trial.onEnded = ({ hasHung, tookMs }) => {
      if (hasHung) this.hungCount += 1;
      else this.endedMs.push(tookMs);
    };
    return trial;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await removeTree(this.#directory);
  }
}

function cacheDirectory(): string {
  const { XDG_CACHE_HOME } = process.env;
  if (XDG_CACHE_HOME !== undefined && path.isAbsolute(XDG_CACHE_HOME))
    return path.join(XDG_CACHE_HOME, 'bosun');
  return path.join(homedir(), process.platform === 'darwin' ? 'Library/Caches' : '.cache', 'bosun');
}
