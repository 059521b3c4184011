/** What a row of the table of operations is, and what several rows have in common. */
import { ACTOR_KINDS, type ActorKind } from './actor.ts';
import type { ErrorCode } from './errors.ts';
import type { InputSchema } from './input-schema.ts';
import { SHOWN_RUN_STATES } from './run-states.ts';
import type * as outputs from './outputs.ts';

/** The schemas of what operations give, by name: loaded only by those who need them. */
export type OutputSchemas = typeof outputs;

export interface Operation {
  input: InputSchema;
  output: keyof OutputSchemas;
  /** What it gives while it is under way: `items` again and again, to the function that is handed in as `to`. */
  streams?: { to: string; items: keyof OutputSchemas | 'bytes' | 'text' };
  /** Beside those that any of them may end with. */
  errors: readonly ErrorCode[];
  /** Who may ask for it. */
  actors: readonly ActorKind[];
  /** Whether something is different afterwards: a run, files, what is trusted or kept. */
  changes: boolean;
}

export const NAME_CHARS_MAX = 1000;
const PATH_CHARS_MAX = 4096;
const MESSAGE_CHARS_MAX = 64 * 1024;
export const NAME = { type: 'string', maxLength: NAME_CHARS_MAX } as const;
export const PATH = { type: 'string', maxLength: PATH_CHARS_MAX } as const;
export const MESSAGE = { type: 'string', maxLength: MESSAGE_CHARS_MAX } as const;
export const FLAG = { type: 'boolean' } as const;
export const FROM_0 = { type: 'integer', minimum: 0 } as const;
export const AMOUNT = { type: 'number', exclusiveMinimum: 0 } as const;
export const USD = { ...AMOUNT, must: 'a number above 0, such as 2.50' } as const;
/** What figures about many runs can be summed by. */
export const TOTALS_PER = ['agent', 'runtime', 'model', 'task'] as const;
export const NOTHING = { type: 'object', properties: {} } as const;
export const ANYBODY = ACTOR_KINDS;
/** What an agent may ask of us is in the crew's table. */
export const NO_AGENT = ['person', 'program'] as const;
export const ON_RUN = ['no-repository', 'not-found'] as const;

export const ABOVE_0 = { type: 'integer', minimum: 1 } as const;
/** The only one at work, else the latest, where none is named. */
export const RUN = { run: NAME } as const;
const RUN_STATES_LIST = {
  type: 'array',
  items: { type: 'string', maxLength: NAME_CHARS_MAX, enum: SHOWN_RUN_STATES },
  maxItems: SHOWN_RUN_STATES.length,
} as const;
/** A list of runs: those that started since then (`7d`, or a date), or that are older than the run `before`. */
export const LISTED_RUNS = { limit: ABOVE_0, since: NAME, state: RUN_STATES_LIST, before: NAME } as const;
export const EVENTS = { to: 'seen', items: 'Events' } as const;
