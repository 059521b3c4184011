/**
 * The way to models for one engine: the gateway with its providers, prices and transport, made when the first agent
 * needs it. A run that uses no model pays for none of it.
 */
import path from 'node:path';
import type { ModelCaller, ModelEndpoint, ModelsStage } from '../attempt/attempt.ts';
import { withEnvironment } from '../definition/config-environment.ts';
import { loadConfigs, userConfigFile } from '../definition/config.ts';
import type { ConfigFile } from '../contract/config.ts';
import { BosunError } from '../contract/errors.ts';
import { NO_TOKENS, type Dialect, type Tokens } from '../contract/model.ts';
import { asksModels } from '../contract/runtimes.ts';
import type { Agent, Budget, RuntimeName, Workflow } from '../contract/workflow.ts';
import { fallbacksOf } from '../contract/workflow-words.ts';
import type { EndpointAt } from '../gateway/attempt-endpoint.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { Price, PriceOf } from '../gateway/money/prices.ts';
import type { Provider } from '../gateway/keys/providers.ts';
import type { Transport } from '../gateway/transport.ts';
import { LOGINS, RUNTIMES_BY_NAME } from '../runtime/runtimes.ts';
import type { Home } from '../store/home.ts';
import type { HookSources } from './hook-desk.ts';
import { SharedMachine } from './shared-machine.ts';

/** Where what goes over the wire is written to, or comes from. */
export interface Cassette {
  record?: string;
  replay?: string;
  /** Answers come as slowly as they were recorded. */
  timing?: boolean;
}

/** What is configured, in place of the user's files and the engine's own environment. */
export interface Configured {
  configs: ConfigFile[];
  env: NodeJS.ProcessEnv;
}

export interface ModelOptions extends Cassette {
  configured?: Configured;
}

export interface ModelWait {
  provider: string;
  delayMs: number;
  why: string;
  tasks: string[];
}

interface Opened {
  gateway: Gateway;
  providersFor(runtime: RuntimeName): Record<string, Dialect>;
}

export class Models implements ModelsStage, AsyncDisposable {
  readonly #home: Home;
  readonly #cassette: Cassette;
  readonly #configured: Configured | undefined;
  readonly #undo = new AsyncDisposableStack();
  /** What this engine shares with the user's others. */
  readonly machine: SharedMachine;
  readonly #callers = new Map<string, ModelCaller>();
  #opened: Promise<Opened> | undefined;
  #priceOf: PriceOf | undefined;
  /** Who is told when a provider has to be waited for, by run. */
  readonly #waits = new Map<string, (wait: ModelWait) => void>();

  constructor(home: Home, { configured, ...cassette }: ModelOptions = {}) {
    this.#home = home;
    this.#cassette = cassette;
    this.#configured = configured;
    this.machine = this.#undo.use(
      new SharedMachine({
        repository: home.directory,
        configs: () => this.#configs(),
        isReplayed: cassette.replay !== undefined,
      }),
    );
  }

  async open(caller: ModelCaller, at: EndpointAt): Promise<ModelEndpoint> {
    const { gateway, providersFor } = await (this.#opened ??= this.#open());
    const key = keyOf(caller.run, caller.task, caller.attempt);
    this.#callers.set(key, caller);
    const door = await gateway.open(caller, at);
    return {
      baseUrl: door.baseUrl,
      providers: providersFor(caller.runtime),
      [Symbol.asyncDispose]: async () => {
        await door[Symbol.asyncDispose]();
        if (this.#callers.get(key) === caller) this.#callers.delete(key);
      },
    };
  }

  /** Tells a run of what its own tasks wait for, until it is disposed of. */
  onWait(run: string, listener: (wait: ModelWait) => void): Disposable {
    this.#waits.set(run, listener);
    return { [Symbol.dispose]: () => void this.#waits.delete(run) };
  }

  price(model: string, tokens: Tokens): number | null {
    return this.#priceOf?.(model, tokens) ?? null;
  }

  /**
   * Before anything is started: a cassette that is none, and a budget that could not be held, are told now. Gives what a
   * person should know: names of models that look mistyped.
   */
  async check(workflow: Workflow): Promise<string[]> {
    const { record, replay } = this.#cassette;
    if (record !== undefined && replay !== undefined)
      throw new BosunError('usage', 'a run is recorded or replayed, not both: give --record or --replay');
    if (record !== undefined || replay !== undefined) await (this.#opened ??= this.#open());
    const limits = usesAgents(workflow) ? this.machine.limits : [];
    if (limits.length > 0) this.machine.check();
    const isLimited = limits.some(({ written }) => needsPrices(written));
    const all = namedModels(workflow, () => true);
    if (all.length === 0) return [];
    await this.loadPrices();
    const { nearModel } = await import('../gateway/money/near-model.ts');
    const hints = all.flatMap((model) => {
      const near = this.price(model, NO_TOKENS) === null ? nearModel(model) : undefined;
      return near === undefined
        ? []
        : [{ model, text: `no model "${model}" is known; did you mean ${near}?` }];
    });
    const named = namedModels(workflow, (budget) => isLimited || needsPrices(budget));
    const unknown = named.filter((model) => this.price(model, NO_TOKENS) === null);
    if (unknown.length === 0) return hints.map(({ text }) => text);
    const hinted = hints.filter(({ model }) => unknown.includes(model)).map(({ text }) => `; ${text}`);
    throw new BosunError(
      'usage',
      `the price is unknown for ${unknown.join(', ')}, so a budget in dollars cannot be held: add it to "prices" in ${userConfigFile()}, or say "unknown-price: allow" in the budget${hinted.join('')}`,
    );
  }

  /** Also before anything is opened. */
  async loadPrices(): Promise<void> {
    const { priceTable } = await import('../gateway/money/prices.ts');
    // A stranger could write that a model costs nothing, and so empty a budget.
    this.#priceOf ??= priceTable(pricesOf(this.#configs().filter(({ isUsers }) => isUsers)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#undo.disposeAsync();
  }

  async #open(): Promise<Opened> {
    const [{ openGateway }, { resolveProviders, isReadyFor }] = await Promise.all([
      import('../gateway/gateway.ts'),
      import('../gateway/keys/providers.ts'),
    ]);
    await this.loadPrices();
    const all = resolveProviders(this.#configs(), this.#env, LOGINS);
    const transport = await this.#transport(all);
    const gateway = this.#undo.use(
      openGateway({
        transport,
        priceOf: this.#priceOf!,
        providers: Object.fromEntries([...all].map(([name, { dialect }]) => [name, dialect])),
        pass: Object.fromEntries([...all].map(([name, { pass }]) => [name, pass])),
        onError: (caller, error) => (caller as ModelCaller).failed(error),
      }),
    );
    // A cassette needs no key.
    const isReady = (provider: Provider, runtime: RuntimeName): boolean =>
      this.#cassette.replay === undefined && isReadyFor(provider, RUNTIMES_BY_NAME[runtime].logins);
    return {
      gateway,
      providersFor: (runtime) => dialectsOf([...all.values()], (provider) => isReady(provider, runtime)),
    };
  }

  async #transport(providers: ReadonlyMap<string, Provider>): Promise<Transport> {
    const { record, replay, timing = false } = this.#cassette;
    const options = {
      placeOf: (run: string, task: string, attempt: number) =>
        this.#callers.get(keyOf(run, task, attempt))?.place,
      secrets: secretsOf(this.#env),
    };
    if (replay !== undefined) {
      const { replayTransport } = await import('../gateway/cassette/replay.ts');
      return replayTransport(path.resolve(replay), { ...options, timing });
    }
    const { liveTransport } = await import('../gateway/live/live.ts');
    const live = this.#undo.use(
      liveTransport({
        providers,
        pausesOf: (key) => this.machine.pausesOf(key),
        onWait: ({ provider, untilMs, why, tasks }) => {
          const delayMs = Math.max(0, Math.round(untilMs - Date.now()));
          for (const [run, listener] of this.#waits) {
            const own = tasks.flatMap((waiter) => (waiter.run === run ? [waiter.task] : []));
            if (own.length > 0 || tasks.length === 0) listener({ provider, why, tasks: own, delayMs });
          }
        },
      }),
    );
    if (record === undefined) return live;
    const { recordingTransport } = await import('../gateway/cassette/record.ts');
    return this.#undo.use(recordingTransport(live, path.resolve(record), options));
  }

  /** What is configured of hooks, and with what surroundings they run. */
  hookSources(): Omit<HookSources, 'program'> {
    const configs = this.#configured?.configs ?? loadConfigs([userConfigFile()]);
    return { configs, env: this.#env, isReplayed: this.#cassette.replay !== undefined };
  }

  get #env(): NodeJS.ProcessEnv {
    return this.#configured?.env ?? process.env;
  }

  #configs(): ConfigFile[] {
    if (this.#configured) return withEnvironment(this.#configured.configs, this.#env);
    return loadConfigs([this.#home.config, userConfigFile()]);
  }
}

/** Those that can answer; all where none can, so that the refusal says what is missing. */
function dialectsOf(
  providers: Provider[],
  isReady: (provider: Provider) => boolean,
): Record<string, Dialect> {
  const ready = providers.filter(isReady);
  const chosen = ready.length > 0 ? ready : providers;
  return Object.fromEntries(chosen.map(({ name, dialect }) => [name, dialect]));
}

function pricesOf(configs: readonly ConfigFile[]): Record<string, Price> {
  const written = configs.flatMap(({ config }) => Object.entries(config.prices ?? {}));
  return Object.fromEntries(
    written.map(([glob, { input, output, 'cache-read': cacheRead, 'cache-write': cacheWrite }]) => [
      glob,
      {
        input,
        output,
        ...(cacheRead !== undefined && { cacheRead }),
        ...(cacheWrite !== undefined && { cacheWrite }),
      },
    ]),
  );
}

/** Models that are named, and paid from a budget that `isMeant`. */
function namedModels(workflow: Workflow, isMeant: (budget: Budget | undefined) => boolean): string[] {
  const models = new Set<string>();
  const whole = isMeant(workflow.budget);
  const add = (agent: Agent | undefined, isPriced: boolean): void => {
    if (!agent || !asksModels(agent.runtime) || !(isPriced || isMeant(agent.budget))) return;
    for (const { model } of [agent, ...fallbacksOf(agent)]) if (model !== undefined) models.add(model);
  };
  for (const { agent, budget } of Object.values(workflow.tasks)) {
    const found = typeof agent === 'string' ? workflow.agents[agent] : agent;
    add(found, whole || isMeant(budget));
  }
  for (const nested of Object.values(workflow.nested ?? {}))
    for (const model of namedModels({ ...nested, budget: nested.budget ?? workflow.budget }, isMeant))
      models.add(model);
  return [...models];
}

function usesAgents({ tasks, nested = {} }: Workflow): boolean {
  return (
    Object.values(tasks).some(({ agent }) => agent !== undefined) || Object.values(nested).some(usesAgents)
  );
}

function needsPrices(budget: Budget | undefined): boolean {
  return budget?.usd !== undefined && budget['unknown-price'] !== 'allow';
}

/** Whatever the engine's environment calls a key. */
function secretsOf(env: NodeJS.ProcessEnv): string[] {
  return Object.entries(env).flatMap(([name, value]) =>
    value && value.length >= 8 && /KEY|TOKEN|SECRET|PASSWORD/i.test(name) ? [value] : [],
  );
}

function keyOf(run: string, task: string, attempt: number): string {
  return `${run} ${task}@${attempt}`;
}
