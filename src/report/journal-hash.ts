/**
 * One value for what happened in a run: the same for the run and its replay, on another machine and on another day.
 * Left out is what is chance: times, names of workspaces, commits (they hold times: add the hash of the final tree to
 * compare the work itself), who answered, what held the commands, how output was cut into pieces, in which order
 * parallel tasks came, waits for providers, pauses, estimated costs, and what agents' programs print besides their story. Pure.
 */
import { createHash } from 'node:crypto';
import { normalText, type Ids } from '../base/normal-text.ts';
import { isSomebody } from '../contract/actor.ts';
import type { AgentEvent } from '../contract/model.ts';
import type { Event, Recorded } from '../contract/event.ts';
import { isFields, type Fields } from '../base/fields.ts';
import { PrintedHash } from './printed-hash.ts';

export function journalHash(events: Iterable<Recorded>): string {
  const hash = new JournalHash();
  for (const { event } of events) hash.add(event);
  return hash.digest();
}

/** Takes whole events, one after another; however large they are, it keeps little of each. */
export class JournalHash {
  readonly #run: string[] = [];
  readonly #tasks = new Map<string, TaskLedger>();
  /** A question's answer names only the question. */
  readonly #asked = new Map<string, string>();
  #normal = normaliser('');

  add(event: Event): void {
    if (event.type === 'run.created') this.#normal = normaliser(event.id);
    if (event.type === 'question.asked') this.#asked.set(event.id, event.task);
    const task =
      'task' in event ? event.task : event.type === 'question.answered' && this.#asked.get(event.id);
    if (task) ledgerOf(this.#tasks, task).add(event, this.#normal);
    else if (!LEFT_OUT.has(event.type)) this.#run.push(line(event, this.#normal));
  }

  digest(): string {
    const hash = createHash('sha256').update(this.#run.join('\n'));
    for (const [task, ledger] of [...this.#tasks].toSorted(([a], [b]) => (a < b ? -1 : 1)))
      hash.update(`\n${task}\n${ledger.lines(this.#normal).join('\n')}`);
    return hash.digest('hex');
  }
}

/**
 * A warning follows from what was used, and from when; that a task is tried again is told by its next attempt. What an agent
 * gave before its end is its output, which its end tells. Of messages counts what each task said: who was still there to get it, and when they looked, is chance.
 */
const LEFT_OUT = new Set<string>([
  'run.isolation',
  'attempt.workspace',
  'model.waiting',
  'budget.warned',
  'attempt.held',
  'attempt.released',
  'clock.jumped',
  'run.paused',
  'run.unpaused',
  'task.paused',
  'task.unpaused',
  'attempt.pausing',
  'run.noted',
  'run.landed',
  'run.unlanded',
  'hook.failed',
  'hooks.armed',
  'hook.told',
  'attempt.progress',
  'attempt.steered',
  'attempt.gave',
  'task.again',
  'tasks.ready',
  'run.reopened',
  'task.awaiting',
  'child.cancelling',
  'message.read',
  'message.delivered',
  'message.refused',
  'wait.began',
  'wait.expired',
  'wait.left',
  'wait.ended',
  'wait.circled',
  'merge.deferred',
  'service.gone',
  'task.summarizing',
]);

/** Of any event, and of what it says was collected. */
const CHANCE = new Set(
  'atMs durationMs pid session source workspace base from files publications commit shadow result marked snapshot replayed note halts stops cancels story storyRef recap'.split(
    ' ',
  ),
);
/** Who that was differs from machine to machine; what was said does not. */
const PEOPLE = new Set<string>([
  'run.resumed',
  'run.cancelling',
  'task.cancelling',
  'task.retried',
  'question.answered',
]);

/** What came of one task. Each kind of event in its own order: between kinds the order is chance. */
class TaskLedger {
  readonly #steps: string[] = [];
  readonly #said: string[] = [];
  readonly #uses: string[] = [];
  readonly #denied = new Set<string>();
  readonly #agents = new Map<number, AgentEvent[]>();
  readonly #outputs = new Map<string, PrintedHash>();
  readonly #printed = new Map<string, string>();

  add(event: Event, normal: Normaliser): void {
    const { type } = event as { type: string };
    if (LEFT_OUT.has(type)) return;
    if (event.type === 'attempt.output') return this.#hear(event, normal);
    if (type === 'attempt.agent') {
      const { attempt, event: said } = event as unknown as { attempt: number; event: AgentEvent };
      const before = this.#agents.get(attempt);
      if (before) before.push(said);
      else this.#agents.set(attempt, [said]);
    } else if (event.type === 'model.used') {
      // An estimate depends on when the agent hung up.
      if (!event.estimated) this.#uses.push(line(event, normal));
    } else if (type === 'message.sent') this.#said.push(short(line(event, normal)));
    else if (type === 'attempt.denied') this.#denied.add(line(event, normal));
    else this.#steps.push(short(line(event, normal)));
    if (type === 'attempt.finished') this.#settle();
  }

  lines(normal: Normaliser): string[] {
    this.#settle();
    return [
      ...this.#steps,
      ...this.#said,
      ...[...this.#agents].flatMap(([attempt, events]) =>
        agentLines(events, normal).map((said) => `${attempt} ${said}`),
      ),
      ...this.#uses.toSorted(),
      ...[...this.#denied].toSorted(),
      ...[...this.#printed]
        .filter(([stream]) => !this.#isChatter(stream))
        .map(([stream, hash]) => `${stream} ${hash}`)
        .toSorted(),
    ];
  }

  /** Programs of agents log what they do and how long it took; what counts is their story. */
  #isChatter(key: string): boolean {
    const [attempt, stream] = key.split(' ');
    return this.#agents.has(Number(attempt)) && (stream === 'stdout' || stream === 'stderr');
  }

  #hear(
    { attempt, stream, text, base64, droppedBytes = 0 }: Extract<Event, { type: 'attempt.output' }>,
    normal: Normaliser,
  ): void {
    const key = `${attempt} ${stream}`;
    let printed = this.#outputs.get(key);
    if (!printed) this.#outputs.set(key, (printed = new PrintedHash(this.#printed.get(key) ?? '', normal)));
    if (droppedBytes > 0) printed.add(Buffer.from(`\n${droppedBytes} bytes\n`));
    printed.add(base64 === undefined ? Buffer.from(text ?? '') : Buffer.from(base64, 'base64'));
  }

  #settle(): void {
    for (const [key, printed] of this.#outputs) this.#printed.set(key, printed.digest());
    this.#outputs.clear();
  }
}

/** How much of what an agent says counts: a journal cuts long texts, and where depends on how long paths are. */
const SAID_CHARS = 1000;

function agentLines(events: AgentEvent[], normal: Normaliser): string[] {
  const ids: Ids = new Map();
  const lines: string[] = [];
  let usage = '';
  let text = '';
  /** What parallel tools gave, until something else is said. */
  let results: string[] = [];
  const flush = (): void => {
    if (text !== '') lines.push(`text ${normal.text(text).slice(0, SAID_CHARS)}`);
    lines.push(...results.toSorted());
    [text, results] = ['', []];
  };
  for (const event of events) {
    if (event.kind === 'text') {
      if (results.length > 0) flush();
      text += event.text; // in how many pieces it came is chance
      continue;
    }
    const said = agentLine(event, ids, normal);
    if (event.kind === 'usage') {
      usage = said; // what it claims at the end
      continue;
    }
    const isResult = event.kind === 'tool-result' || event.kind === 'file-changed';
    if (!isResult || text !== '') flush();
    (isResult ? results : lines).push(said);
  }
  flush();
  return [...lines, usage];
}

function agentLine(event: AgentEvent, ids: Ids, normal: Normaliser): string {
  const fields = Object.entries(event).flatMap(([key, value]: [string, unknown]): [string, unknown][] => {
    if (key === 'session') return [];
    if (key === 'id' && typeof value === 'string') return [[key, numberOf(value, ids)]];
    const said = canonical(value, normal);
    return [[key, typeof said === 'string' ? said.slice(0, SAID_CHARS) : said]];
  });
  return JSON.stringify(Object.fromEntries(fields.toSorted(byName)));
}

interface Normaliser {
  text(text: string): string;
}

const EXACT: Normaliser = { text: (text) => text };

function normaliser(run: string): Normaliser {
  const name = run.replace(/-\d+$/, '').replaceAll(/[^\w-]/g, String.raw`\$&`);
  const runs = new RegExp(`(?<![\\w-])${name}-\\d+(?![\\w-])`, 'g');
  return { text: (text) => normalText(name === '' ? text : text.replace(runs, '<run>'), new Map()) };
}

/** What a person wrote counts as it is. */
function line(event: Event, normal: Normaliser): string {
  const { collected, ...fields } = withoutChance(event as unknown as Fields);
  if (event.type === 'run.created') {
    // A replay is begun at once, and on its own.
    const { queued: _, parent: __, ...rest } = fields;
    return JSON.stringify(canonical({ ...rest, id: '' }, EXACT));
  }
  if (PEOPLE.has(event.type)) delete fields.by;
  else if ('by' in event && isSomebody(event.by)) nameNobody(fields, event.by);
  if (event.type === 'task.delayed') delete fields.because; // the attempt says it
  return JSON.stringify(
    canonical(isFields(collected) ? { ...fields, collected: work(collected) } : fields, normal),
  );
}

/** As journals did before they named people. */
function nameNobody(fields: Fields, by: string): void {
  fields.by = 'person';
  if (typeof fields.why === 'string') fields.why = fields.why.replace(by, () => 'person');
}

const LINE_CHARS_MAX = 4096;

/** Of what is long, such as an output, the hash is enough. */
function short(text: string): string {
  return text.length <= LINE_CHARS_MAX ? text : createHash('sha256').update(text).digest('hex');
}

function work(collected: Fields): Fields {
  const { outside, ...rest } = withoutChance(collected);
  return isFields(outside) ? { ...rest, outside: withoutChance(outside) } : rest;
}

function withoutChance(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([key]) => !CHANCE.has(key)));
}

/** With the keys of objects in one order. */
function canonical(value: unknown, normal: Normaliser): unknown {
  if (typeof value === 'string') return normal.text(value);
  if (Array.isArray(value)) return value.map((item) => canonical(item, normal));
  if (!isFields(value)) return value;
  const fields = Object.entries(value).map(([key, item]): [string, unknown] => [
    key,
    canonical(item, normal),
  ]);
  return Object.fromEntries(fields.toSorted(byName));
}

function byName([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : 1;
}

function numberOf(id: string, ids: Ids): number {
  if (!ids.has(id)) ids.set(id, ids.size + 1);
  return ids.get(id)!;
}

function ledgerOf(tasks: Map<string, TaskLedger>, task: string): TaskLedger {
  const ledger = tasks.get(task) ?? new TaskLedger();
  tasks.set(task, ledger);
  return ledger;
}
