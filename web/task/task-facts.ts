/** What the attempts of a task came to by a moment: figures, files, what they were granted. Pure. */
import type { AccessWord } from '../../src/contract/access.ts';
import type { EventOf } from '../../src/contract/event.ts';
import type { Spending } from '../../src/contract/model.ts';
import { NO_TOKENS } from '../../src/contract/model.ts';
import type { ChangedFile, LeftOut } from '../../src/contract/run.ts';
import type { RunAt } from '../film/run-at.ts';
import { countBefore, eventsOf } from './task-events.ts';

export interface AttemptFacts {
  n: number;
  toolCalls: number;
  spending: Spending;
  models: readonly string[];
  /** In place of the agent's own runtime. */
  runtime?: string;
  /** Absent while it has left nothing. */
  changed?: readonly ChangedFile[];
  changedCount: number;
  outside?: LeftOut;
  artifacts: readonly string[];
  /** What its agent said that it changed, while nothing is collected yet. */
  touched: readonly string[];
}

interface Access {
  id: string;
  globs: readonly string[];
  answer: AccessWord | null;
  by: string;
}

export interface TaskSoFar {
  attempts: readonly AttemptFacts[];
  access: readonly Access[];
  /** Connections that its scope did not allow. */
  denied: readonly string[];
}

const TOUCHED_MAX = 500;
const DENIED_MAX = 20;

export function soFar(at: RunAt, task: string): TaskSoFar {
  const own = eventsOf(at, task);
  const attempts: Mutable<AttemptFacts>[] = [];
  const access = new Map<string, Access>();
  const denied = new Set<string>();
  const until = countBefore(own, at.count);
  for (let n = 0; n < until; n++) {
    const { event } = at.events[own[n]!]!;
    switch (event.type) {
      case 'attempt.started':
        attempts.push(begun(event));
        break;
      case 'model.used':
        spend(
          attempts.find((each) => each.n === event.attempt),
          event,
        );
        break;
      case 'attempt.agent': {
        const attempt = attempts.findLast((each) => each.n === event.attempt);
        if (!attempt) break;
        if (event.event.kind === 'tool-call') attempt.toolCalls++;
        if (event.event.kind === 'started' && event.event.model !== undefined)
          use(attempt, event.event.model);
        if (event.event.kind === 'file-changed' && attempt.touched.length < TOUCHED_MAX) {
          const { path } = event.event;
          if (!attempt.touched.includes(path)) attempt.touched.push(path);
        }
        break;
      }
      case 'attempt.finished': {
        const attempt = attempts.findLast((each) => each.n === event.attempt);
        if (!attempt || !event.collected) break;
        const { changed, changedCount, artifacts, outside } = event.collected;
        Object.assign(attempt, { changed, changedCount, artifacts, ...(outside && { outside }) });
        break;
      }
      case 'access.requested':
        access.set(event.id, { id: event.id, globs: event.globs, answer: null, by: '' });
        break;
      case 'access.answered':
        access.set(event.id, { id: event.id, globs: event.globs, answer: event.answer, by: event.by });
        break;
      case 'attempt.denied':
        if (denied.size < DENIED_MAX)
          denied.add(event.port === 0 ? event.host : `${event.host}:${event.port}`);
        break;
      default:
    }
  }
  return { attempts, access: [...access.values()], denied: [...denied] };
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer E)[] ? E[] : T[K] };

function begun({ attempt, fallback }: EventOf<'attempt.started'>): Mutable<AttemptFacts> {
  return {
    n: attempt,
    toolCalls: 0,
    spending: { requests: 0, tokens: NO_TOKENS, usd: 0, unpriced: 0 },
    models: [],
    ...(fallback && { runtime: fallback.runtime }),
    changedCount: 0,
    artifacts: [],
    touched: [],
  };
}

function spend(attempt: Mutable<AttemptFacts> | undefined, use_: EventOf<'model.used'>): void {
  if (!attempt) return;
  const { spending } = attempt;
  const isPaid = use_.replayed === undefined;
  attempt.spending = {
    requests: spending.requests + 1,
    tokens: {
      input: spending.tokens.input + use_.tokens.input,
      output: spending.tokens.output + use_.tokens.output,
      cacheRead: spending.tokens.cacheRead + use_.tokens.cacheRead,
      cacheWrite: spending.tokens.cacheWrite + use_.tokens.cacheWrite,
    },
    usd: spending.usd + (isPaid ? (use_.usd ?? 0) : 0),
    unpriced: spending.unpriced + (use_.usd === null ? 1 : 0),
    ...((use_.estimated || spending.estimated) && {
      estimated: (spending.estimated ?? 0) + (use_.estimated ? 1 : 0),
    }),
  };
  use(attempt, use_.model);
}

function use(attempt: Mutable<AttemptFacts>, model: string): void {
  if (!attempt.models.includes(model)) attempt.models.push(model);
}
