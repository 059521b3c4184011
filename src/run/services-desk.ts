/**
 * Where attempts of a run give ports of their sandboxes names, and find those of others: checks what they say, has the
 * way opened, makes facts of it, and keeps the ways that are open. The state says what is there; a way ends with its attempt.
 */
import { mkdir, rmdir } from 'node:fs/promises';
import path from 'node:path';
import type { AttemptCrew, OpenRelay, ServicesOfRun } from '../attempt/attempt.ts';
import { didYouMean } from '../base/suggest.ts';
import { BosunError } from '../contract/errors.ts';
import {
  ANNOUNCEMENTS_MAX,
  hostOf,
  isServiceName,
  SERVICE_NAME_RULE,
  SERVICES_PER_ATTEMPT_MAX,
  SERVICES_PER_RUN_MAX,
  type ServeAnswer,
  type ServiceEnded,
} from '../contract/services.ts';
import type { FoundService } from '../egress/services-door.ts';
import { nodeOf } from '../schedule/state.ts';
import { mayReachService, maySeeServices, servicesFor, tellBarred } from '../schedule/workflow/services.ts';
import { servicePath } from '../store/home.ts';
import type { Relay } from '../system/process/process.ts';
import { runIsOver, type Landings } from './landings.ts';
import type { Loop } from './loop.ts';

const NAMES_SHOWN_MAX = 20;
/** Of services that are gone, to say whose they were. */
const PAST_MAX = 1000;
const PORT_MAX = 65_535;

interface Live {
  readonly name: string;
  readonly port: number;
  readonly task: string;
  readonly attempt: number;
  relay?: Relay;
  /** Resolves when it has been opened and recorded, or that failed: until then it cannot be ended. */
  begun?: Promise<void>;
  /** It is in the journal. */
  isAnnounced?: true;
  isEnding?: true;
}

type Wanted = Parameters<AttemptCrew['serve']>[0];

export class ServicesDesk {
  readonly #loop: Pick<Loop, 'state' | 'isOver'>;
  readonly #landings: Pick<Landings, 'land'>;
  /** Of the run's own files. */
  readonly #directory: string;
  readonly #live = new Map<string, Live>();
  /** Who served what last, and why no longer. */
  readonly #past = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  readonly #ending = new Set<Promise<void>>();

  constructor(loop: Pick<Loop, 'state' | 'isOver'>, landings: Pick<Landings, 'land'>, directory: string) {
    this.#loop = loop;
    this.#landings = landings;
    this.#directory = directory;
  }

  toolsFor(task: string, attempt: number): Pick<AttemptCrew, 'serve'> {
    return { serve: (wanted, open) => this.#serve(task, attempt, wanted, open) };
  }

  /** What the attempt has of the services of the run. */
  for(task: string, attempt: number): ServicesOfRun {
    const { state } = this.#loop;
    return {
      areThere: () => {
        const node = nodeOf(state, task);
        return servicesFor(state, node).length > 0 || maySeeServices(node);
      },
      find: (name) => this.#find(task, name),
      ended: () => this.#endAll(task, attempt),
    };
  }

  /** The engine drives the run no longer. */
  async close(): Promise<void> {
    for (const live of this.#live.values()) this.#end(live, 'the engine stopped');
    await Promise.all(this.#ending);
    await rmdir(path.dirname(servicePath(this.#directory, ''))).catch(() => {}); // there may be none
  }

  async #serve(
    task: string,
    attempt: number,
    { name, port, stop = false }: Wanted,
    open: OpenRelay,
  ): Promise<ServeAnswer | ServiceEnded> {
    if (!isServiceName(name))
      throw new BosunError(
        'usage',
        `${JSON.stringify(name.slice(0, 100))} is not a service name: ${SERVICE_NAME_RULE}`,
      );
    const known = this.#live.get(name);
    const own = known?.task === task && known.attempt === attempt ? known : undefined;
    if (stop) return this.#stop(name, own);
    if (port === undefined || !Number.isInteger(port) || port > PORT_MAX)
      throw new BosunError('usage', `say which port is to be ${name}: a whole number from 1 to ${PORT_MAX}`);
    if (known && !own)
      throw new BosunError('usage', `${this.#labelOf(known.task)} serves ${name} already; use another name`);
    if (own && own.port !== port)
      throw new BosunError(
        'usage',
        `you serve your port ${own.port} as ${name}; end that first: bosun agent serve --name ${name} --stop`,
      );
    this.#count(task, attempt);
    if (own?.isAnnounced) return answerOf(own, false);
    if (own) throw new BosunError('busy', `${name} is being opened; try again`);
    this.#checkRoom(task, attempt);
    return this.#open({ name, port, task, attempt }, open);
  }

  /** From its first moment on nobody else gets the name. */
  async #open(live: Live, open: OpenRelay): Promise<ServeAnswer> {
    this.#live.set(live.name, live);
    const beginning = this.#begin(live, open);
    live.begun = beginning.then(
      () => {},
      () => {},
    );
    try {
      const relay = await beginning;
      void relay.ended.then(() => this.#end(live, 'its agent has ended'));
      return await answerOf(live, true);
    } catch (error) {
      this.#end(live, 'it could not be opened');
      throw error;
    }
  }

  async #begin(live: Live, open: OpenRelay): Promise<Relay> {
    const { name, port, task, attempt } = live;
    const socketPath = servicePath(this.#directory, name);
    await mkdir(path.dirname(socketPath), { recursive: true, mode: 0o700 });
    live.relay = await open(port, socketPath);
    if (live.isEnding) throw endedMeanwhile(name);
    await this.#landings.land({ type: 'service.announced', task, attempt, name, port });
    live.isAnnounced = true;
    const there = this.#loop.state.services.get(name);
    if (there?.task !== task || there.attempt !== attempt || live.isEnding) throw endedMeanwhile(name);
    return live.relay;
  }

  #stop(name: string, own: Live | undefined): ServiceEnded {
    if (!own) throw new BosunError('not-found', `you serve no ${name}`);
    this.#end(own, 'its agent ended it');
    return { name, hasEnded: true };
  }

  async #endAll(task: string, attempt: number): Promise<void> {
    for (const live of this.#live.values())
      if (live.task === task && live.attempt === attempt) this.#end(live, 'its agent has ended');
    await Promise.all(this.#ending);
  }

  /** Once. Whoever is connected is cut off; the name is free when the socket is gone. */
  #end(live: Live, why: string): void {
    if (live.isEnding) return;
    live.isEnding = true;
    const { name, task, attempt } = live;
    const ending = (async (): Promise<void> => {
      await live.begun;
      await live.relay?.[Symbol.asyncDispose]();
      if (live.isAnnounced) {
        this.#remember(name, `${this.#labelOf(task)} served it: ${why}`);
        await this.#landings.land({ type: 'service.gone', task, attempt, name, why }).catch(() => {}); // nobody records any more
      }
      if (this.#live.get(name) === live) this.#live.delete(name);
    })();
    this.#ending.add(ending);
    void ending.finally(() => this.#ending.delete(ending));
  }

  #find(task: string, name: string): FoundService {
    const { state } = this.#loop;
    const live = this.#live.get(name);
    const service = state.services.get(name);
    if (!live?.isAnnounced || live.isEnding || !service) return { why: this.#tellMissing(task, name) };
    if (!mayReachService(state, nodeOf(state, task), service)) return tellBarred(state, service);
    const socketPath = servicePath(this.#directory, name);
    return { socketPath, port: live.port, of: this.#labelOf(live.task) };
  }

  #tellMissing(task: string, name: string): string {
    const { state } = this.#loop;
    const names = servicesFor(state, nodeOf(state, task)).map((service) => service.name);
    const past = this.#past.get(name);
    const there =
      names.length > 0 ? `; there is ${names.slice(0, NAMES_SHOWN_MAX).map(hostOf).join(', ')}` : '';
    return `no task serves it now${past === undefined ? '' : ` (${past})`}${didYouMean(name, names)}${there}; wait for it with: bosun agent wait-for service ${name}`;
  }

  /** Each time, whatever comes of it: what it finds out about the port is work too. */
  #count(task: string, attempt: number): void {
    if (this.#loop.isOver) throw runIsOver();
    const key = `${task}@${attempt}`;
    const count = (this.#counts.get(key) ?? 0) + 1;
    if (count > ANNOUNCEMENTS_MAX)
      throw new BosunError('busy', `you have served ${ANNOUNCEMENTS_MAX} times: that is the limit`);
    this.#counts.set(key, count);
  }

  #checkRoom(task: string, attempt: number): void {
    const own = [...this.#live.values()].filter((live) => live.task === task && live.attempt === attempt);
    if (own.length >= SERVICES_PER_ATTEMPT_MAX)
      throw new BosunError(
        'busy',
        `you serve ${SERVICES_PER_ATTEMPT_MAX} ports, the limit at one time; end one with --stop`,
      );
    if (this.#live.size >= SERVICES_PER_RUN_MAX)
      throw new BosunError(
        'busy',
        `this run serves ${SERVICES_PER_RUN_MAX} ports, the limit at one time; try again when others have ended`,
      );
  }

  #remember(name: string, whose: string): void {
    this.#past.delete(name);
    this.#past.set(name, whose);
    const [oldest] = this.#past.keys();
    if (this.#past.size > PAST_MAX && oldest !== undefined) this.#past.delete(oldest);
  }

  #labelOf(task: string): string {
    return nodeOf(this.#loop.state, task).label;
  }
}

function endedMeanwhile(name: string): BosunError {
  return new BosunError('wrong-state', `${name} was ended while it was being opened; nobody reaches it`);
}

async function answerOf({ name, port, relay }: Live, isNew: boolean): Promise<ServeAnswer> {
  return { name, port, url: `http://${hostOf(name)}`, isNew, isListening: await relay!.isListening() };
}
