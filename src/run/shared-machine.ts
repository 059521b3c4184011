/**
 * What this engine shares with the user's other engines, opened when the first agent needs it. Slots and pauses are a
 * courtesy: where they cannot be had runs go on without, and each of them says so once.
 */
import { availableParallelism, totalmem } from 'node:os';
import type { ConfigFile } from '../contract/config.ts';
import { Machine } from '../store/machine/machine.ts';
import type { SharedSpending } from '../store/machine/spending.ts';
import type { KeyPauses } from '../store/machine/pauses.ts';
import type { SlotOptions } from '../store/machine/slots.ts';
import { SharedAccounts, sharedAccounts, unheld, type SharedAccount } from './shared-budgets.ts';

const GIGABYTE = 1024 ** 3;
const AGENTS_PER_CORE = 4;
const AGENTS_PER_GIGABYTE = 1;
const AGENTS_MIN = 4;
const AGENTS_MAX = 10_000;

export interface SharedMachineOptions {
  /** The repository's state directory: what it is known by. */
  repository: string;
  configs(): ConfigFile[];
  /** Answers come from a cassette, and nobody pays. */
  isReplayed?: boolean;
}

export class SharedMachine implements AsyncDisposable {
  readonly #options: SharedMachineOptions;
  #machine: Machine | undefined;
  #broken: Error | undefined;
  /** By run: who is to know why something is done without, and who does. */
  readonly #listeners = new Map<string, (text: string) => void>();
  readonly #told = new Set<string>();

  constructor(options: SharedMachineOptions) {
    this.#options = options;
  }

  /** Tells, once, why the run does without something; until it is disposed of. */
  onTrouble(run: string, listener: (text: string) => void): Disposable {
    this.#listeners.set(run, listener);
    return {
      [Symbol.dispose]: () => {
        this.#listeners.delete(run);
        this.#told.delete(run);
      },
    };
  }

  /** Resolves when an agent may begin. */
  async slot(of: Omit<SlotOptions, 'repository' | 'most'>): Promise<Disposable> {
    const { repository } = this.#options;
    try {
      return (await this.#open(of.run)?.slots.take({ ...of, repository, most: this.#most() })) ?? NOTHING;
    } catch (error) {
      this.#tell(error as Error, [of.run]);
      return NOTHING;
    }
  }

  /** The pauses of a key, for all engines that use it. */
  pausesOf(secret: string): KeyPauses | undefined {
    const kept = this.#try(() => this.#open()?.pauses.of(secret));
    return (
      kept && {
        heard: () => this.#try(() => kept.heard()),
        tell: (pause) => this.#try(() => kept.tell(pause)),
      }
    );
  }

  /** What a run and all others may spend by day and month; undefined where nobody pays. */
  budgets(run: string): SharedAccounts | undefined {
    if (this.#options.isReplayed) return undefined;
    return new SharedAccounts({
      ...this.#options,
      run,
      open: () => this.#spending(),
      onTrouble: (error) => this.#tell(error, [run]),
    });
  }

  /** Limits on what all runs spend. */
  get limits(): SharedAccount[] {
    return this.#options.isReplayed ? [] : sharedAccounts(this.#options.configs(), this.#options.repository);
  }

  /** Throws where limits could not be held. */
  check(): void {
    try {
      this.#spending().version();
    } catch (error) {
      throw unheld(error as Error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#machine?.[Symbol.asyncDispose]();
  }

  /** Undefined where it cannot be had, which concerns all runs unless one is named. */
  #open(run?: string): Machine | undefined {
    return this.#try(() => this.#require(), run);
  }

  #require(): Machine {
    if (this.#broken) throw this.#broken;
    try {
      return (this.#machine ??= new Machine());
    } catch (error) {
      this.#broken = error as Error;
      throw error;
    }
  }

  #spending(): SharedSpending {
    return this.#require().spending;
  }

  #most(): number {
    return agentsAtOnce(this.#options.configs());
  }

  #try<T>(action: () => T, run?: string): T | undefined {
    try {
      return action();
    } catch (error) {
      this.#tell(error as Error, run === undefined ? [...this.#listeners.keys()] : [run]);
      return undefined;
    }
  }

  #tell({ message }: Error, runs: string[]): void {
    for (const run of runs) {
      if (this.#told.has(run)) continue;
      this.#told.add(run);
      this.#listeners.get(run)?.(`this run shares neither slots nor rate limits with other runs: ${message}`);
    }
  }
}

const NOTHING: Disposable = { [Symbol.dispose]: () => {} };

/** How many agents of a user may be at work on this machine. */
export function agentsAtOnce(configs: readonly ConfigFile[]): number {
  return configs.find(({ isUsers }) => isUsers)?.config.agents ?? agentsByDefault();
}

/** Agents mostly wait for models, but each is a program that takes memory, and what it starts takes cores. */
export function agentsByDefault(cores = availableParallelism(), memoryBytes = memoryOf()): number {
  const byMemory = Math.floor((memoryBytes / GIGABYTE) * AGENTS_PER_GIGABYTE);
  return Math.min(AGENTS_MAX, Math.max(AGENTS_MIN, Math.min(cores * AGENTS_PER_CORE, byMemory)));
}

/** What this process may use, where that is less than the machine has. */
function memoryOf(): number {
  const allowed = process.constrainedMemory();
  return allowed > 0 ? Math.min(allowed, totalmem()) : totalmem();
}
