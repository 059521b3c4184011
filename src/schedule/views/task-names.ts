/**
 * What people call a task: its id, where an item of a for-each goes by its value, as in `review[security]`, and a turn of
 * a handoff by its agent, a candidate of a race by its name, a round by its number. Pure.
 */
import type { Event, EventOf, RoundReason } from '../../contract/event.ts';
import type { Json } from '../../contract/workflow.ts';

const LABEL_CHARS_MAX = 40;
const FIELDS = ['name', 'id', 'title'];
/** What no name can hold: what is invisible or drives a terminal, and what a name is written with. */
const UNFIT = /[\p{C}[\]]/gu;

/** The names of the items of a for-each of that name: by value where it tells one item from all others, else by number. */
export function itemNames(group: string, items: readonly Json[]): string[] {
  const labels = items.map(labelOf);
  const uses = new Map<string, number>();
  for (const label of labels) uses.set(label, (uses.get(label) ?? 0) + 1);
  return labels.map((label, index) =>
    label !== '' && uses.get(label) === 1 ? `${group}[${label}]` : `${group}.${index + 1}`,
  );
}

/** The name of a turn in a handoff of that name, when its agent had so many before; also of what is within a race. */
export function turnName(group: string, agent: string, times: number): string {
  return `${group}[${agent}${times > 0 ? ` ${times + 1}` : ''}]`;
}

export function roundName(group: string, index: number, why: RoundReason): string {
  return `${group}[${why === 'final' ? 'final' : `round ${index + 1}`}]`;
}

/** The name of the task `id` that sums up something for a task of the name `reader`. */
export function summaryName(reader: string, id: string, what: string): string {
  const [, n = '1'] = /-(\d+)$/.exec(id) ?? [];
  const [, task = what] = /^(?:tasks|apis)(?:\.|\[['"])([\w-]+)/.exec(what) ?? [];
  return `${reader}[summary${n === '1' ? '' : ` ${n}`} of ${labelOf(task)}]`;
}

function labelOf(item: Json): string {
  const value = typeof item === 'object' && item !== null && !Array.isArray(item) ? fieldOf(item) : item;
  if (typeof value !== 'string' && typeof value !== 'number') return '';
  // Of a long text, as much as may be needed.
  const start = String(value)
    .slice(0, LABEL_CHARS_MAX * 10)
    .replaceAll(/\s+/g, ' ')
    .replaceAll(UNFIT, '')
    .normalize('NFC')
    .trim();
  const chars = [...start];
  return chars.length <= LABEL_CHARS_MAX ? start : `${chars.slice(0, LABEL_CHARS_MAX - 1).join('')}…`;
}

function fieldOf(item: Record<string, Json>): Json | undefined {
  const isName = (value: Json | undefined): boolean =>
    (typeof value === 'string' && value.trim() !== '') || typeof value === 'number';
  const field = FIELDS.find((name) => Object.hasOwn(item, name) && isName(item[name]));
  return field === undefined ? undefined : item[field];
}

/** The events that name tasks. */
export const NAMING: readonly Event['type'][] = [
  'task.expanded',
  'task.handed',
  'task.judging',
  'task.round',
  'task.summarizing',
];

/** The names of tasks of a run, for who reads its events and keeps no state. */
export class TaskNames {
  readonly #names: Map<string, string>;
  /** Of each handoff, race and continuous task, the agents that have had a turn, its candidates and judges, or its rounds. */
  readonly #within = new Map<string, string[]>();

  /** With those that are known already. */
  constructor(names: Iterable<readonly [string, string]> = []) {
    this.#names = new Map(names);
  }

  /** Of any event: most name nothing. */
  add(event: Event): void {
    if (event.type === 'task.handed' || event.type === 'task.judging' || event.type === 'task.round')
      return this.#addNext(event);
    if (event.type === 'task.summarizing') {
      for (const { by, what } of event.texts) {
        const reader = by.slice(0, by.lastIndexOf('/'));
        this.#names.set(by, summaryName(this.of(reader), by, what));
      }
      return;
    }
    if (event.type !== 'task.expanded') return;
    const { task, items = [], candidates = [] } = event;
    if (candidates.length > 0) this.#within.set(task, candidates);
    for (const [index, candidate] of candidates.entries())
      this.#names.set(`${task}.${index + 1}`, turnName(this.of(task), candidate, 0));
    itemNames(this.of(task), items).forEach((name, index) => this.#names.set(`${task}.${index + 1}`, name));
  }

  #addNext(event: EventOf<'task.handed' | 'task.judging' | 'task.round'>): void {
    const { task } = event;
    const before = this.#within.get(task) ?? [];
    const next =
      event.type === 'task.handed' ? event.agent : event.type === 'task.judging' ? 'judge' : event.why;
    const times = before.filter((name) => name === next).length;
    const group = this.of(task);
    const name =
      event.type === 'task.round' ? roundName(group, before.length, event.why) : turnName(group, next, times);
    this.#names.set(`${task}.${before.length + 1}`, name);
    this.#within.set(task, [...before, next]);
  }

  /** That of a task within one of these starts with theirs. */
  of(id: string): string {
    for (let end = id.length; end > 0; end = id.lastIndexOf('/', end - 1)) {
      const name = this.#names.get(id.slice(0, end));
      if (name !== undefined) return name + id.slice(end);
    }
    return id;
  }
}
