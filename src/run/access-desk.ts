/**
 * Where attempts of a run ask for access, and owners answer: checks what they say, makes facts of it, and tells
 * them what was decided once it is in the journal. It decides nothing.
 */
import { normalizeGlob, parseGlob } from '../base/glob-syntax.ts';
import type { AccessAnswer, OwnerSaid, PendingAccess, WantedPatch } from '../contract/access.ts';
import { BosunError } from '../contract/errors.ts';
import type { EventOf } from '../contract/event.ts';
import type { CrewTools } from '../crew/tools.ts';
import { nodeOf } from '../schedule/state.ts';
import { patchOf } from '../schedule/workflow/access.ts';
import { readWantedPatch } from '../collect/wanted-patch.ts';
import type { Loop } from './loop.ts';

/** Of one task, in all its attempts. */
const REQUESTS_MAX = 100;
/** Braces stand for several globs each, and all of them are compared with all scopes. */
const PATTERNS_MAX = 200;
/** Of what an owner is asked at once; at least one request. */
const PORTION_BYTES_MAX = 64 * 1024;

const NO_SUCH_REQUEST = 'no such request waits for your answer; see: bosun agent inbox';
const NO_PATCH = 'says which files, but not what it would change there; answer yes or no';

export class AccessDesk {
  readonly #loop: Pick<Loop, 'state' | 'submit' | 'isOver'>;
  readonly #waiting = new Map<string, (answer: AccessAnswer) => void>();
  /** How many ids were given out, where that is ahead of the state. */
  readonly #given = new Map<string, number>();

  constructor(loop: Pick<Loop, 'state' | 'submit' | 'isOver'>) {
    this.#loop = loop;
  }

  /** What does the work behind the crew's tools, for one attempt. */
  toolsFor(task: string, attempt: number): Pick<CrewTools, 'request_access' | 'answer_access'> {
    return {
      request_access: ({ paths, patch }) => this.#request(task, attempt, paths, patch),
      answer_access: async ({ id, answer }) => this.#say(task, id, answer),
    };
  }

  /** What the agent of this task is asked as an owner; not all of it where that is a lot. */
  pending(task: string): PendingAccess[] {
    return firstOf(this.#inbox(task));
  }

  /** Resolves once the answer is in the journal. Throws where the globs are none. */
  async #request(
    task: string,
    attempt: number,
    wanted: readonly string[],
    patch: string | undefined,
  ): Promise<AccessAnswer> {
    const globs = checkGlobs(wanted);
    if (patch !== undefined) readWantedPatch(patch, globs);
    const refuse = (why: string): AccessAnswer => ({ granted: false, why, globs });
    const count = Math.max(nodeOf(this.#loop.state, task).requests, this.#given.get(task) ?? 0);
    if (count >= REQUESTS_MAX) return refuse(`the task has asked ${REQUESTS_MAX} times: that is the limit`);
    if (this.#loop.isOver) return refuse('the run is over');
    this.#given.set(task, count + 1);
    // Task names hold no "+", so that no task and no question has such a name.
    const id = `${task}+${count + 1}`;
    const { promise, resolve } = Promise.withResolvers<AccessAnswer>();
    this.#waiting.set(id, resolve);
    const wish = patch === undefined ? {} : { patch };
    this.#loop.submit({ type: 'access.requested', task, attempt, id, globs, ...wish });
    return promise;
  }

  #inbox(task: string): PendingAccess[] {
    const asked = [...this.#loop.state.requests.values()].filter(({ id, owners }) => {
      return owners.get(task) === 'asked' && !this.#loop.state.questions.has(id);
    });
    return asked.map((request) => {
      const patch = patchOf(this.#loop.state, request);
      const { id, task: asking, globs } = request;
      return { id, task: asking, globs: [...globs], ...(patch !== undefined && { patch }) };
    });
  }

  /** What this very task was asked to change. Throws where there is no such request, or it names files alone. */
  wanted(task: string, id: string): WantedPatch {
    const pending = this.#inbox(task).find((each) => each.id === id);
    if (!pending) throw new BosunError('not-found', NO_SUCH_REQUEST);
    const { patch, globs } = pending;
    if (patch === undefined) throw new BosunError('usage', `${id} ${NO_PATCH}`);
    return { patch, files: readWantedPatch(patch, globs) };
  }

  /** Only what this very task was asked can be answered by it. */
  #say(task: string, id: string, answer: 'yes' | 'no' | 'applied' | 'take'): OwnerSaid {
    const request = this.#loop.state.requests.get(id);
    const pending = this.#inbox(task).find((each) => each.id === id);
    if (!request || this.#loop.isOver || !pending) return { accepted: false, why: NO_SUCH_REQUEST };
    if (answer === 'take') throw new Error('a change is taken by the attempt');
    if (answer === 'applied' && pending.patch === undefined)
      return { accepted: false, why: `${id} ${NO_PATCH}` };
    const { task: asking, attempt } = request;
    this.#loop.submit({ type: 'access.said', task: asking, attempt, id, owner: task, answer });
    return { accepted: true, why: `${answer}, for ${asking}` };
  }

  answered({ id, answer, why, globs }: EventOf<'access.answered'>): void {
    const applied = answer === 'applied' ? { applied: true as const } : {};
    this.#waiting.get(id)?.({ granted: answer === 'yes', ...applied, why, globs });
    this.#waiting.delete(id);
  }

  /** Nothing will be decided any more. */
  close(): void {
    for (const resolve of this.#waiting.values())
      resolve({ granted: false, why: 'the engine stopped before there was an answer', globs: [] });
    this.#waiting.clear();
  }
}

/** As many as are read at a glance, one at least; the others are there once these are answered. */
function firstOf(requests: PendingAccess[]): PendingAccess[] {
  let bytes = 0;
  const end = requests.findIndex((request, n) => {
    bytes += Buffer.byteLength(JSON.stringify(request));
    return n > 0 && bytes > PORTION_BYTES_MAX;
  });
  return end === -1 ? requests : requests.slice(0, end);
}

/** As they are kept, each once. */
function checkGlobs(wanted: readonly string[]): string[] {
  const refuse = (message: string): never => {
    throw new BosunError('usage', `cannot ask for access: ${message}`);
  };
  const globs = new Set<string>();
  let patterns = 0;
  for (const text of wanted) {
    const normalized = normalizeGlob(text);
    if ('problem' in normalized) return refuse(`"${text.slice(0, 200)}" ${normalized.problem}`);
    // People and agents read them line by line.
    if (/\p{C}/u.test(normalized.glob))
      refuse(`${JSON.stringify(text)} holds a character that does not show; use "?" for it`);
    if (globs.has(normalized.glob)) continue;
    globs.add(normalized.glob);
    patterns += parseGlob(normalized.glob).patterns.length;
  }
  if (patterns > PATTERNS_MAX)
    refuse(`the globs stand for more than ${PATTERNS_MAX} with their braces; name directories (src/**)`);
  return [...globs];
}
