/** A run as a strip of bars, from its state and its history. Pure. */
import type { AttemptReport, QuestionReport } from '../../contract/report.ts';
import type { Strip, StripBar } from '../../contract/strip.ts';
import type { History } from '../history/history.ts';
import type { Node, State } from '../state.ts';

export type Bar = Omit<StripBar, 'lane'>;
export type AskedTime = StripBar['asked'][number];

/** The longest attempts where there are more than `barsMax`. */
export function stripOf(
  state: State,
  history: Pick<History, 'tasks' | 'questions' | 'heldTimes'>,
  { barsMax }: { barsMax: number },
): Strip {
  const toMs = state.endedAtMs ?? state.lastAtMs;
  const askedOf = Map.groupBy(history.questions, ({ task }) => task);
  const all = [...state.nodes.values()].flatMap((node) => barsOf(node, history, askedOf.get(node.id) ?? []));
  return layBars(all, { fromMs: state.createdAtMs, toMs, barsMax });
}

/** Into as few lanes as there is room in. */
export function layBars(
  all: readonly Bar[],
  { fromMs, toMs, barsMax }: { fromMs: number; toMs: number; barsMax: number },
): Strip {
  const kept = all.length <= barsMax ? all : longest(all, barsMax, toMs);
  const { laneOf, lanes } = assignLanes(kept);
  return {
    fromMs,
    toMs,
    lanes,
    bars: kept.map((bar) => ({ ...bar, lane: laneOf.get(bar.task)! })),
    leftOut: all.length - kept.length,
  };
}

/** One that asks a person has no attempt: its bar is the question. */
function barsOf(
  node: Node,
  { tasks, heldTimes }: Pick<History, 'tasks' | 'heldTimes'>,
  questions: readonly QuestionReport[],
): Bar[] {
  const asked = questions.map(({ askedAtMs, answeredAtMs }) => ({ fromMs: askedAtMs, toMs: answeredAtMs }));
  const { id: task, label } = node;
  if (node.kind === 'approve')
    return asked.map((waited) => ({
      task,
      label,
      attempt: 0,
      ...waited,
      end: waited.toMs === null ? null : node.state === 'failed' ? 'failed' : 'done',
      asked: [waited],
    }));
  return (tasks.get(task)?.attempts ?? []).map(({ n, startedAtMs, endedAtMs, outcome }) => ({
    task,
    label,
    attempt: n,
    fromMs: startedAtMs,
    toMs: endedAtMs,
    end: outcome,
    asked: askedWithin([...asked, ...(heldTimes.get(task) ?? [])], { startedAtMs, endedAtMs }),
  }));
}

/** The parts that fell into an attempt; those that overlap as one. */
export function askedWithin(
  asked: readonly AskedTime[],
  { startedAtMs, endedAtMs }: Pick<AttemptReport, 'startedAtMs' | 'endedAtMs'>,
): AskedTime[] {
  const parts = asked
    .filter(({ fromMs, toMs }) => fromMs <= (endedAtMs ?? Infinity) && (toMs ?? Infinity) >= startedAtMs)
    .map(({ fromMs, toMs }) => {
      const last = Math.min(toMs ?? Infinity, endedAtMs ?? Infinity);
      return { fromMs: Math.max(fromMs, startedAtMs), toMs: last === Infinity ? null : last };
    })
    .toSorted((a, b) => a.fromMs - b.fromMs);
  const joined: AskedTime[] = [];
  for (const part of parts) {
    const before = joined.at(-1);
    if (!before || part.fromMs > (before.toMs ?? Infinity)) joined.push(part);
    else if (before.toMs !== null && (part.toMs ?? Infinity) > before.toMs) before.toMs = part.toMs;
  }
  return joined;
}

function longest(bars: readonly Bar[], count: number, untilMs: number): Bar[] {
  const length = ({ fromMs, toMs }: Bar): number => (toMs ?? untilMs) - fromMs;
  const kept = new Set(bars.toSorted((a, b) => length(b) - length(a)).slice(0, count));
  return bars.filter((bar) => kept.has(bar));
}

/** By task: the first lane in which nothing else is at work from its first attempt to its last. */
function assignLanes(bars: readonly Bar[]): { laneOf: Map<string, number>; lanes: number } {
  const spans = [...Map.groupBy(bars, ({ task }) => task)]
    .map(([task, own]) => ({
      task,
      fromMs: Math.min(...own.map(({ fromMs }) => fromMs)),
      toMs: Math.max(...own.map(({ toMs }) => toMs ?? Infinity)),
    }))
    .toSorted((a, b) => a.fromMs - b.fromMs);
  const freeFromMs: number[] = [];
  const laneOf = new Map<string, number>();
  for (const { task, fromMs, toMs } of spans) {
    const free = freeFromMs.findIndex((sinceMs) => sinceMs <= fromMs);
    const lane = free === -1 ? freeFromMs.length : free;
    freeFromMs[lane] = toMs;
    laneOf.set(task, lane);
  }
  return { laneOf, lanes: freeFromMs.length };
}
