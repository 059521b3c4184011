/**
 * One run of one agent in a scratch repository: the real engine, sandbox and gateway, and a model that says what a
 * script tells it to. It judges nothing.
 */
import { cutText } from '../../base/cut-text.ts';
import { spellActor } from '../../contract/actor.ts';
import path from 'node:path';
import type { ConfigFile } from '../../contract/config.ts';
import type { EventOf, EventType, Recorded } from '../../contract/event.ts';
import type { AgentEvent } from '../../contract/model.ts';
import type { RunView } from '../../contract/run.ts';
import type { Agent, Workflow, WorkflowSource } from '../../contract/workflow.ts';
import { workflow } from '../../definition/builder.ts';
import { findHome } from '../../store/home.ts';
import type { LoggedRequest } from '../../model-server/request-log.ts';
import type { ModelScriptSource } from '../../model-server/script.ts';
import { startModelServer, type ModelServer } from '../../model-server/server.ts';
import { describeIsolation } from '../../report/isolation.ts';
import { git } from '../../system/git/git.ts';
import { removeTree } from '../../system/files/remove-tree.ts';
import type { Configured } from '../../run/models.ts';
import { resumeRun, startRun, type LiveRun } from '../run.ts';

export const TASK = 'agent';
const KEY_VARIABLE = 'BOSUN_CONFORMANCE_KEY';
/** How long the gateway bears silence and failures: less than real providers deserve, so that checks end. */
const IDLE = '2s';
const PATIENCE = '10s';
/** Beyond the time-out of the task, for an engine that does not hold it. */
const GRACE_MS = 15_000;

type TaskSource = WorkflowSource['tasks'][string];

export interface TrialWish {
  script: ModelScriptSource;
  prompt?: string;
  agent?: Partial<Agent>;
  task?: Partial<TaskSource>;
  /** More files of the repository. */
  files?: Record<string, string>;
}

export interface Bounds {
  timeoutMs: number;
  signal: AbortSignal | undefined;
}

/** What another process needs to start the same run. */
export interface Doomed {
  cwd: string;
  workflow: Workflow;
  configured: Configured;
  by: string;
}

const BY = spellActor({ kind: 'program', name: 'conformance' });

export class Trial implements AsyncDisposable {
  readonly repository: string;
  readonly server: ModelServer;
  readonly events: Recorded[] = [];
  readonly #workflow: Workflow;
  readonly #configured: Configured;
  readonly #bounds: Bounds;
  #live: LiveRun | undefined;
  onIsolation: ((text: string) => void) | undefined;
  onEnded: ((ended: TrialEnd) => void) | undefined;

  static async make(
    repository: string,
    agent: Partial<Agent>,
    wish: TrialWish,
    bounds: Bounds,
  ): Promise<Trial> {
    const { script, prompt = 'Do what you are told.', task } = wish;
    const checked = workflow(
      {
        name: 'conformance',
        tasks: {
          [TASK]: {
            prompt,
            timeout: `${bounds.timeoutMs}ms`,
            ...task,
            agent: { ...agent, ...wish.agent },
          },
        },
      },
      { directory: repository },
    );
    return new Trial(repository, await startModelServer({ script }), checked, bounds);
  }

  private constructor(repository: string, server: ModelServer, checked: Workflow, bounds: Bounds) {
    this.repository = repository;
    this.server = server;
    this.#workflow = checked;
    this.#configured = configuredFor(server.url);
    this.#bounds = bounds;
  }

  get doomed(): Doomed {
    return { cwd: this.repository, workflow: this.#workflow, configured: this.#configured, by: BY };
  }

  async start(): Promise<LiveRun> {
    const { doomed } = this;
    return this.#watch(await startRun({ ...doomed, source: 'conformance', seen: this.#seen, trust: true }));
  }

  /** After another engine was killed. */
  async resume(): Promise<LiveRun> {
    const { cwd, configured, by } = this.doomed;
    return this.#watch(await resumeRun({ cwd, configured, by, seen: this.#seen }));
  }

  /** To its end, which comes in any case. */
  async finish(): Promise<TrialEnd> {
    const live = this.#live ?? (await this.start());
    const beganMs = performance.now();
    let isStuck = false;
    const timer = setTimeout(() => {
      isStuck = true;
      live.cancel('now');
    }, this.#bounds.timeoutMs + GRACE_MS);
    try {
      const run = await live.finished;
      const ended = new TrialEnd(this, run, { tookMs: performance.now() - beganMs, isStuck });
      this.onEnded?.(ended);
      return ended;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Those of one type, in their order. */
  of<T extends EventType>(type: T): EventOf<T>[] {
    return this.events.flatMap(({ event }) => (event.type === type ? [event as EventOf<T>] : []));
  }

  /** What the agent itself told. */
  told<K extends AgentEvent['kind']>(kind: K): (Extract<AgentEvent, { kind: K }> & { attempt: number })[] {
    return this.of('attempt.agent').flatMap(({ event, attempt }) =>
      event.kind === kind ? [{ ...(event as Extract<AgentEvent, { kind: K }>), attempt }] : [],
    );
  }

  /** Requests that are the agent's work: titles and the like are not. */
  get requests(): LoggedRequest[] {
    return this.server.requests.filter(({ model, rule }) => model !== undefined && rule !== 'side');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#live?.cancel('now');
    await this.#live?.finished.catch(() => {});
    await this.server[Symbol.asyncDispose]();
    await removeTree(this.repository);
  }

  readonly #seen = (events: Recorded[]): void => void this.events.push(...events);

  #watch(live: LiveRun): LiveRun {
    const { signal } = this.#bounds;
    this.#live = live;
    const end = (): void => live.cancel('now');
    signal?.addEventListener('abort', end);
    if (signal?.aborted) end();
    void live.finished.catch(() => {}).finally(() => signal?.removeEventListener('abort', end));
    this.onIsolation?.(describeIsolation({ ...live.isolation, notes: [] }).split(';')[0]!);
    return live;
  }
}

/** What came of a run. */
export class TrialEnd {
  readonly run: RunView;
  readonly tookMs: number;
  readonly last: EventOf<'attempt.finished'> | undefined;
  readonly #trial: Trial;
  readonly #isStuck: boolean;

  constructor(trial: Trial, run: RunView, { tookMs, isStuck }: { tookMs: number; isStuck: boolean }) {
    this.#trial = trial;
    this.run = run;
    this.tookMs = tookMs;
    this.#isStuck = isStuck;
    this.last = trial.of('attempt.finished').at(-1);
  }

  get isDone(): boolean {
    return this.run.state === 'done';
  }

  /** It had to be ended by its time-out. */
  get hasHung(): boolean {
    const { outcome } = this.last ?? {};
    return this.#isStuck || (outcome?.kind === 'failed' && outcome.reason === 'timeout');
  }

  /** Why it failed, in a few words. */
  get why(): string {
    const { outcome, error } = this.last ?? {};
    if (this.isDone) return 'done';
    if (this.hasHung) return `did not end within ${seconds(this.tookMs)}`;
    if (error) return `${error.kind}: ${firstLine(error.message)}`;
    return outcome?.kind === 'failed' ? `${outcome.reason}: ${firstLine(outcome.message)}` : this.run.state;
  }

  /** A file of the result; undefined where it is not there. */
  async file(name: string): Promise<string | undefined> {
    const { stdout, code } = await git(['cat-file', 'blob', `${this.run.headCommit}:${name}`], {
      cwd: this.#gitDirectory,
      codes: [0, 128],
    });
    return code === 0 ? stdout.toString() : undefined;
  }

  /** The files at the top of the result. */
  async names(): Promise<string[]> {
    const { stdout } = await git(['ls-tree', '--name-only', this.run.headCommit], {
      cwd: this.#gitDirectory,
    });
    return stdout.toString().split('\n').filter(Boolean);
  }

  get #gitDirectory(): string {
    return path.join(findHome(this.#trial.repository)!.directory, 'git');
  }
}

export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

const FACT_CHARS_MAX = 160;

function firstLine(text: string): string {
  const line = text.trim().split('\n')[0]!;
  return cutText(line, FACT_CHARS_MAX);
}

/** All providers are the scripted one; nothing of the user's counts, and no key of theirs goes there. */
function configuredFor(url: string): Configured {
  const provider = { key: { env: KEY_VARIABLE }, 'timeout-idle': IDLE, patience: PATIENCE };
  const config: ConfigFile['config'] = {
    providers: {
      anthropic: { ...provider, 'base-url': url },
      openai: { ...provider, 'base-url': `${url}/v1` },
      gemini: { ...provider, 'base-url': url },
    },
  };
  return {
    configs: [{ file: 'conformance', config, isUsers: true }],
    env: { [KEY_VARIABLE]: 'no-key-at-all' },
  };
}
