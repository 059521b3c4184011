/** Puts the events of a task into its log, each as what people would call it. */
import { isSomebody } from '../../../src/contract/actor.ts';
import type { EventOf, Recorded } from '../../../src/contract/event.ts';
import { agentLine, withinWorkspace } from '../../../src/schedule/views/agent-line.ts';
import { saidBy } from '../../../src/report/words.ts';
import type { RunAt } from '../../film/run-at.ts';
import { endOf } from '../../run/views/journal/attempt-end.ts';
import { journalRows } from '../../run/views/journal/journal-rows.ts';
import type { Item, LogItems, ToolItem } from './log-items.ts';

type Said = Extract<Item, { kind: 'you' }>;

const PROMPT_CHARS_MAX = 20_000;
/** What the panel shows elsewhere, or as a part of something else. */
const UNTOLD = new Set([
  'attempt.output',
  'attempt.workspace',
  'attempt.gave',
  'attempt.asked',
  'model.used',
  'task.merging',
  'attempt.held',
  'attempt.released',
  'tasks.ready',
  'task.finished',
]);

export class LogEvents {
  readonly #items: LogItems;
  readonly #tools = new Map<string, ToolItem>();
  readonly #said: Said[] = [];

  constructor(items: LogItems) {
    this.#items = items;
  }

  add(at: Pick<RunAt, 'events'>, index: number): void {
    const recorded = at.events[index]!;
    const { event, seq, atMs } = recorded;
    if (UNTOLD.has(event.type)) return;
    const attempt = 'attempt' in event && typeof event.attempt === 'number' ? event.attempt : 0;
    const common = { seq, atMs, attempt };
    switch (event.type) {
      case 'attempt.agent':
        return this.#agent(recorded, event);
      case 'attempt.started':
        return this.#started(common, event);
      case 'attempt.finished':
        return this.#items.add({ ...common, kind: 'mark', ...endOf(event) });
      case 'attempt.progress': {
        const text = event.percent === undefined ? event.text : `${event.percent} % ${event.text}`;
        return this.#items.add({ ...common, kind: 'note', text, tone: '' });
      }
      case 'task.steered': {
        const said: Said = { ...common, kind: 'you', text: event.text, by: event.by };
        this.#said.push(said);
        return this.#items.add(said);
      }
      case 'attempt.steered':
        for (const number of event.steers) {
          const said = this.#said[number - 1];
          if (!said) continue;
          said.readAtMs = atMs;
          this.#items.touch(said);
        }
        return undefined;
      case 'question.answered': {
        if (!isSomebody(event.by)) return this.#tell(at, index, common);
        const text = `answered ${event.answer ?? 'nothing'} ${saidBy(event.by)}${event.note ? `: ${event.note}` : ''}`;
        return this.#items.add({ ...common, kind: 'note', text, tone: 'ask' });
      }
      case 'question.asked':
        return this.#items.add({ ...common, kind: 'mark', text: `Asks: ${event.text}`, tone: 'ask' });
      default:
        return this.#tell(at, index, common);
    }
  }

  #tell(at: Pick<RunAt, 'events'>, index: number, common: Pick<Item, 'seq' | 'atMs' | 'attempt'>): void {
    const { isTold, text, tone } = journalRows(at)[index]!;
    if (isTold) this.#items.add({ ...common, kind: 'note', text, tone });
  }

  #started(common: Pick<Item, 'seq' | 'atMs' | 'attempt'>, event: EventOf<'attempt.started'>): void {
    const { attempt, purpose, continues, feedback, fallback, prompt, recap } = event;
    const text = [
      `Attempt ${attempt}`,
      purpose === 'resolve' && 'settles a conflict',
      fallback && `goes on with ${fallback.runtime}`,
      continues !== undefined && 'same workspace',
      feedback !== undefined && 'told why',
    ];
    this.#items.add({ ...common, kind: 'mark', text: text.filter(Boolean).join(' · '), tone: 'busy' });
    const told = [feedback, recap, prompt].filter((part) => part !== undefined && part !== '').join('\n\n');
    if (told === '') return;
    const [about = ''] = told.trim().split('\n');
    const item = { kind: 'tool', id: `prompt ${common.seq}`, name: 'Asked', about, input: '' } as const;
    const result = { atMs: common.atMs, text: told.slice(0, PROMPT_CHARS_MAX), isError: false };
    this.#items.add({ ...common, ...item, result });
  }

  #agent({ seq, atMs }: Recorded, { attempt, event }: EventOf<'attempt.agent'>): void {
    const common = { seq, atMs, attempt };
    switch (event.kind) {
      case 'text':
        return this.#items.add({ ...common, kind: 'say', text: withinWorkspace(event.text) });
      case 'tool-call': {
        const about = (agentLine(event) ?? '').slice(`→ ${event.name} `.length);
        const { name, input } = event;
        const item: ToolItem = { ...common, kind: 'tool', id: `tool ${seq}`, name, about, input };
        this.#tools.set(`${attempt} ${event.id}`, item);
        return this.#items.add(item);
      }
      case 'tool-result': {
        const tool = this.#tools.get(`${attempt} ${event.id}`);
        if (!tool) return undefined;
        tool.result = { atMs, text: withinWorkspace(event.text), isError: event.isError };
        return this.#items.touch(tool);
      }
      case 'error':
        return this.#items.add({ ...common, kind: 'note', text: agentLine(event) ?? '', tone: 'bad' });
      // What it changed is in its diff; what it asked has events of its own.
      default:
        return undefined;
    }
  }
}
