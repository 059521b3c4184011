/**
 * A copy of a run's state and history: more events can be folded into either, and the other stays as it was. What nobody
 * ever changes, such as the tasks as they are written, is the same in both.
 */
import type { History } from './history/history.ts';
import type { State } from './state.ts';

/** Fields whose values are set as a whole. */
const SHARED: ReadonlySet<string> = new Set([
  'answer',
  'artifacts',
  'awaiting',
  'changed',
  'conflicted',
  'cost',
  'each',
  'ended',
  'expansion',
  'given',
  'inputs',
  'lastOutcome',
  'merged',
  'outcome',
  'output',
  'outside',
  'refused',
  'started',
  'task',
  'workflow',
]);

interface Copyable {
  copy(each: (item: unknown) => unknown): unknown;
}

export function copyRun(run: { state: State; history: History }): { state: State; history: History } {
  const copies = new Map<object, unknown>();
  // All of them first: they know each other, and a walk from one to the next could be as deep as the run is long.
  for (const node of run.state.nodes.values()) copies.set(node, { ...node });
  for (const node of run.state.nodes.values()) fill(copies.get(node) as object, copies);
  return copyOf(run, copies) as { state: State; history: History };
}

function copyOf(value: unknown, copies: Map<object, unknown>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const known = copies.get(value);
  if (known !== undefined) return known;
  const copy = shallow(value, (item) => copyOf(item, copies));
  copies.set(value, copy);
  if (Array.isArray(copy)) copy.forEach((item, n) => (copy[n] = copyOf(item, copies)));
  else if (copy instanceof Map)
    for (const [key, item] of value as Map<unknown, unknown>)
      copy.set(copyOf(key, copies), copyOf(item, copies));
  else if (copy instanceof Set) for (const item of value as Set<unknown>) copy.add(copyOf(item, copies));
  else if (!isCopyable(value)) fill(copy, copies);
  return copy;
}

/** Maps and sets are empty yet. */
function shallow(value: object, each: (item: unknown) => unknown): object {
  if (Array.isArray(value)) return value.slice();
  if (value instanceof Map) return new Map();
  if (value instanceof Set) return new Set();
  return isCopyable(value) ? (value.copy(each) as object) : { ...value };
}

function fill(copy: object, copies: Map<object, unknown>): void {
  const fields = copy as Record<string, unknown>;
  for (const name in fields) {
    const value = fields[name];
    if (typeof value === 'object' && value !== null && !SHARED.has(name))
      fields[name] = copyOf(value, copies);
  }
}

function isCopyable(value: object): value is Copyable {
  return typeof (value as Partial<Copyable>).copy === 'function';
}
