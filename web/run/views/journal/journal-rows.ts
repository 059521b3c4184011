/** The events of a run as rows with a sentence each: told once, and on from where it was. */
import { formatDuration } from '../../../../src/base/units.ts';
import type { Event, EventType, Recorded } from '../../../../src/contract/event.ts';
import { tokensInAll, type AgentEvent } from '../../../../src/contract/model.ts';
import { RunTeller } from '../../../../src/report/lines/run-teller.ts';
import { UNTOLD } from '../../../../src/report/lines/untold-sentences.ts';
import { shortCount } from '../../../../src/report/money.ts';
import { count } from '../../../../src/report/words.ts';
import { agentLine } from '../../../../src/schedule/views/agent-line.ts';
import { describeUsd } from '../../../../src/schedule/money/budget-words.ts';
import { plain } from '../../../parts/plain.ts';
import type { RunAt } from '../../../film/run-at.ts';
import { endOf } from './attempt-end.ts';

export interface JournalRow {
  /** Its place among the events. */
  index: number;
  seq: number;
  atMs: number;
  type: EventType;
  /** Its id; absent where it is about the run. */
  task?: string;
  text: string;
  tone: string;
  /** People are told of it; of others there is no more than what such an event is. */
  isTold: boolean;
}

interface Telling {
  teller: RunTeller;
  rows: JournalRow[];
  next: number;
}

const TEXT_CHARS_MAX = 600;
const SENTENCES: Partial<Record<EventType, string>> = UNTOLD;

/** By the first event of a run, which is the same for as long as the run is open. */
const tellings = new WeakMap<Recorded, Telling>();

/** Of all that was read; the first `rowsUntil(at)` of them had happened. */
export function journalRows({ events }: Pick<RunAt, 'events'>): readonly JournalRow[] {
  const [first] = events;
  if (!first) return [];
  let telling = tellings.get(first);
  if (!telling) {
    telling = { teller: new RunTeller({ withOutput: true, fit: (text) => text }), rows: [], next: 0 };
    tellings.set(first, telling);
  }
  for (; telling.next < events.length; telling.next++)
    telling.rows.push(rowOf(events[telling.next]!, telling.next, telling.teller));
  return telling.rows;
}

/** The last ones that people are told of, the latest first. */
export function latestRows(at: Pick<RunAt, 'events' | 'count'>, most: number): JournalRow[] {
  const rows = journalRows(at);
  const latest: JournalRow[] = [];
  for (let n = Math.min(at.count, rows.length) - 1; n >= 0 && latest.length < most; n--)
    if (rows[n]!.isTold) latest.push(rows[n]!);
  return latest;
}

function rowOf(recorded: Recorded, index: number, teller: RunTeller): JournalRow {
  const { event, atMs, seq } = recorded;
  const { told } = teller.tell(recorded);
  const row = { index, seq, atMs, type: event.type, ...('task' in event && { task: event.task }) };
  const text = told.map((each) => each.text.replace(/^[│→] /, '')).join(' ');
  if (text.trim() === '') return { ...row, text: plainSentence(event), tone: 'untold', isTold: false };
  return {
    ...row,
    text: plain(text, TEXT_CHARS_MAX),
    tone: told[0]!.color ?? '',
    isTold: true,
  };
}

/** What such an event is, where people are not told of it. */
function plainSentence(event: Event): string {
  if (event.type === 'attempt.finished')
    return plain(`${endOf(event).text} · ${formatDuration(event.durationMs)}`, TEXT_CHARS_MAX);
  if (event.type === 'attempt.agent') return plain(agentDid(event.event), TEXT_CHARS_MAX);
  if (event.type !== 'model.used') return SENTENCES[event.type] ?? '';
  const price = event.usd === null ? 'at a price that nobody knows' : describeUsd(event.usd);
  return `${event.model} answered: ${shortCount(tokensInAll(event.tokens))} tokens, ${price}${event.estimated ? ' (estimated)' : ''}`;
}

function agentDid(event: AgentEvent): string {
  switch (event.kind) {
    case 'started':
      return `its program runs${event.model === undefined ? '' : ` with ${event.model}`}`;
    case 'tool-result':
      return `got: ${event.text.trim() === '' ? 'nothing' : event.text}`;
    case 'usage':
      return `says that it used ${shortCount(tokensInAll(event.tokens))} tokens`;
    case 'finished':
      return `says that it is done: ${count(event.turns, 'turn')}, ${count(event.toolCalls, 'tool call')}`;
    default:
      return agentLine(event) ?? UNTOLD['attempt.agent'];
  }
}
