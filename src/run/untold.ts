/**
 * What webhooks were to be told and, as the journal stands, were not: the engine was killed before they took it. It reads
 * and tells nobody. What they are told of an event is made from the run as it was at that event.
 */
import type { Event, Recorded } from '../contract/event.ts';
import type { HookInput, HookMoment } from '../contract/hook.ts';
import { foldRecorded } from '../schedule/fold/format-2.ts';
import type { State } from '../schedule/state.ts';
import { eventsOf } from '../store/events.ts';
import type { Store } from '../store/store.ts';
import { isArmedHere } from './own-seal.ts';
import { HookInputs } from './hook-input.ts';

/** What is older is of no use to whoever would be told. */
export const AGE_MS_MAX = 24 * 60 * 60 * 1000;
/** The latest of them. */
const UNTOLD_MAX = 100;

const TYPES: readonly Event['type'][] = [
  'hooks.armed',
  'hook.told',
  'hook.failed',
  'attempt.finished',
  'task.finished',
  'question.asked',
  'run.finished',
];

export interface Untold {
  hook: string;
  moment: HookMoment;
  seq: number;
  task: string | undefined;
  input: HookInput;
}

interface Due extends Omit<Untold, 'input'> {
  atMs: number;
}

export interface Looked {
  /** The oldest first. */
  untold: Untold[];
  /** The oldest of what is not told any more. */
  left: Due[];
}

export async function findUntold(store: Store, run: string, top: string, nowMs: number): Promise<Looked> {
  const due = new Map<string, Due>();
  let armed = new Map<string, readonly HookMoment[]>();
  for await (const { event, seq, atMs } of eventsOf(store, run, { types: TYPES, valueBytesMax: 0 })) {
    if (event.type === 'hooks.armed')
      // What a stranger's journal says has happened is nothing to tell with this user's secret.
      armed = isArmedHere(top, run, event.sealed)
        ? new Map(event.webhooks.map(({ hook, on }) => [hook, on]))
        : new Map();
    else if (event.type === 'hook.told' || event.type === 'hook.failed')
      due.delete(keyOf(event.hook, event.moment, event.seq));
    else
      for (const [hook, on] of armed)
        for (const moment of momentsOf(event))
          if (on.includes(moment))
            due.set(keyOf(hook, moment, seq), { hook, moment, seq, atMs, task: taskOf(event) });
  }
  const all = [...due.values()];
  const young = all.filter(({ atMs }) => atMs > nowMs - AGE_MS_MAX).slice(-UNTOLD_MAX);
  const untold = young.length === 0 ? [] : await withInputs(store, run, top, young);
  return { untold, left: all.slice(0, all.length - young.length).slice(0, UNTOLD_MAX) };
}

async function withInputs(store: Store, run: string, top: string, due: readonly Due[]): Promise<Untold[]> {
  const bySeq = Map.groupBy(due, ({ seq }) => seq);
  const untold: Untold[] = [];
  let state: State | undefined;
  for await (const recorded of eventsOf(store, run, { withoutOutput: true })) {
    state = foldRecorded(state, recorded);
    const inputs = new HookInputs(state, top, () => recorded.atMs);
    for (const { atMs: _, ...each } of bySeq.get(recorded.seq) ?? []) {
      const input = inputOf(inputs, recorded, each.moment);
      if (input) untold.push({ ...each, input });
    }
    if (recorded.seq >= due.at(-1)!.seq) break;
  }
  return untold;
}

function inputOf(inputs: HookInputs, { event }: Recorded, moment: HookMoment): HookInput | undefined {
  switch (event.type) {
    case 'attempt.finished':
      return moment === 'error' ? inputs.attemptFailed(event) : inputs.after(event);
    case 'task.finished':
      return inputs.taskFailed(event);
    case 'question.asked':
      return inputs.question(event);
    case 'run.finished':
      return inputs.ended();
    default:
      return undefined;
  }
}

/** At which moments of hooks it may be told. */
function momentsOf(event: Event): HookMoment[] {
  switch (event.type) {
    case 'attempt.finished': {
      const { outcome } = event;
      const isVetoed = outcome.kind === 'failed' && outcome.reason === 'vetoed';
      const isError = outcome.kind === 'failed' || outcome.kind === 'lost';
      return [...(isVetoed ? [] : ['after-attempt' as const]), ...(isError ? ['error' as const] : [])];
    }
    case 'task.finished':
      return event.outcome.kind === 'failed' && event.outcome.reason !== 'tasks' ? ['error'] : [];
    case 'question.asked':
      return ['question'];
    case 'run.finished':
      return ['run-ended'];
    default:
      return [];
  }
}

function taskOf(event: Event): string | undefined {
  return 'task' in event ? event.task : undefined;
}

function keyOf(hook: string, moment: HookMoment, seq: number | undefined): string {
  return JSON.stringify([hook, moment, seq]);
}
