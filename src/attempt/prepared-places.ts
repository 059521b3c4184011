/**
 * Makes places for attempts that will start soon: a workspace and a sandbox, which then wait for the command. Each is
 * for one attempt alone; one that is not taken is thrown away. Nothing of it is in the journal: it is only sooner.
 */
import type { Attempt, Stages, Stop } from './attempt.ts';
import type { EventOf } from '../contract/event.ts';
import { makePlace, outputSink, type AttemptPlace } from './run-attempt.ts';
import { hasEnded, type Node } from '../schedule/state.ts';
import type { Upcoming } from '../schedule/decide/upcoming.ts';

interface Begun {
  attempt: Attempt;
  stop: Stop;
}

interface Made extends Begun {
  node: Node;
  from: string[] | undefined;
  place: Promise<AttemptPlace>;
  /** It was made with a way to services of the run. */
  hasServices: boolean;
}

type Begin = (node: Node, start: EventOf<'attempt.started'>) => Begun;

export class PreparedPlaces implements AsyncDisposable {
  /** More would cost memory and gain nothing: places are made faster than agents end. */
  static readonly placesMax = 4;
  readonly #stages: Stages;
  readonly #begin: Begin;
  readonly #made = new Map<string, Made>();
  readonly #discarding = new Set<Promise<void>>();

  constructor(stages: Stages, begin: Begin) {
    this.#stages = stages;
    this.#begin = begin;
  }

  /** Makes places for these, and throws away those of tasks that ended without an attempt. */
  look(upcoming: readonly Upcoming[]): void {
    for (const { node, attempt, place } of this.#made.values()) {
      if (hasEnded(node)) this.#discard(attempt.start.task, place);
    }
    for (const { node, from } of upcoming) {
      if (this.#made.size >= PreparedPlaces.placesMax) return;
      if (this.#made.has(node.id) || hasSetup(node)) continue;
      const start: EventOf<'attempt.started'> = {
        type: 'attempt.started',
        task: node.id,
        attempt: 1,
        purpose: 'work',
        from: from ?? [],
        prompt: '',
      };
      const begun = this.#begin(node, start);
      const hasServices = hasServicesNow(begun.attempt);
      const place = makePlace(this.#stages, begun.attempt, {
        sink: outputSink(begun.attempt),
        isAhead: true,
      });
      this.#made.set(node.id, { ...begun, node, from, place, hasServices });
      place.catch(() => this.#made.delete(node.id)); // the attempt itself will meet the cause, and say so
    }
  }

  /** The place of an attempt that starts now, if there is one and the guess was right. */
  take(start: EventOf<'attempt.started'>, shadow: string): Made | undefined {
    const made = this.#made.get(start.task);
    if (made === undefined) return undefined;
    this.#made.delete(start.task);
    const { attempt, from, place } = made;
    const isSame =
      start.attempt === 1 &&
      start.purpose === 'work' &&
      hasServicesNow(attempt) === made.hasServices &&
      (from === undefined ||
        (from.join() === start.from.join() && (from.length === 1 || attempt.shadow === shadow)));
    if (isSame) return made;
    this.#discard(start.task, place);
    return undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const [task, { place }] of this.#made) this.#discard(task, place);
    await Promise.all(this.#discarding);
  }

  #discard(task: string, place: Promise<AttemptPlace>): void {
    this.#made.delete(task);
    const done = this.#remove(place);
    this.#discarding.add(done);
    void done.finally(() => this.#discarding.delete(done));
  }

  async #remove(promised: Promise<AttemptPlace>): Promise<void> {
    const place = await promised.catch(() => undefined);
    await place?.[Symbol.asyncDispose]();
    if (place?.workspace) await this.#stages.workspaces.remove(place.workspace.name);
  }
}

function hasServicesNow({ services }: Attempt): boolean {
  return services?.areThere() ?? false;
}

/** Its output belongs to an attempt that has begun. */
function hasSetup({ task, workflow }: Node): boolean {
  const options = task.workspace ?? workflow.workspace;
  return typeof options === 'object' && options.setup !== undefined;
}
