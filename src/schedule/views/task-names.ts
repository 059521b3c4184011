/**
 * What people call a task: its id, where an item of a for-each goes by its value, as in `review[security]`, and a turn of
 * a handoff by its agent. Pure.
 */
import type { EventOf } from '../../contract/event.ts';
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

/** The name of a turn in a handoff of that name, when its agent had so many before. */
export function turnName(group: string, agent: string, times: number): string {
  return `${group}[${agent}${times > 0 ? ` ${times + 1}` : ''}]`;
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

/** The names of tasks of a run, for who reads its events and keeps no state. */
export class TaskNames {
  readonly #names: Map<string, string>;
  /** Of each handoff, the agents that have had a turn. */
  readonly #turns = new Map<string, string[]>();

  /** With those that are known already. */
  constructor(names: Iterable<readonly [string, string]> = []) {
    this.#names = new Map(names);
  }

  add(event: EventOf<'task.expanded' | 'task.handed'>): void {
    if (event.type === 'task.handed') return this.#addTurn(event);
    const { task, items = [] } = event;
    itemNames(this.of(task), items).forEach((name, index) => this.#names.set(`${task}.${index + 1}`, name));
  }

  #addTurn({ task, agent }: EventOf<'task.handed'>): void {
    const turns = this.#turns.get(task) ?? [];
    const times = turns.filter((name) => name === agent).length;
    this.#turns.set(task, [...turns, agent]);
    this.#names.set(`${task}.${turns.length + 1}`, turnName(this.of(task), agent, times));
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
