/** The events of a run as lines for people: when, which task, what happened. Agents' bytes are made harmless. */
import { formatCount } from '../../base/format-count.ts';
import { formatDuration } from '../../base/units.ts';
import type { Event, EventOf, Recorded } from '../../contract/event.ts';
import { fitColumns, padColumns } from '../text/columns.ts';
import { plainLine, spellControls } from '../text/plain.ts';
import { count } from '../words.ts';
import { formatElapsed } from '../text/figures.ts';
import type { Paint } from '../text/paint.ts';
import type { AgentLine } from './agent-events.ts';
import { RunTeller } from './run-teller.ts';

const NAME_COLUMNS_MIN = 8;
const NAME_COLUMNS_MAX = 24;
const LINES_SHOWN_MAX = 20;
const QUESTION_COLUMNS_MAX = 80;

export interface LineOptions {
  paint: Paint;
  /** Also what tasks print, and what agents say and do. */
  withOutput: boolean;
  /** What people call tasks, by id, where no event that is rendered says it. */
  labels?: Iterable<readonly [string, string]>;
  /** Of tasks that are known already: their column has room for all of them from the first line on. */
  names?: Iterable<string>;
}

/** Keeps what lines have in common: the start of time, the width of names. */
export class EventLines {
  readonly #options: LineOptions;
  readonly #teller: RunTeller;
  #startMs: number | undefined;
  /** Since when it waits for an engine. */
  #queuedAtMs: number | undefined;
  #columns = NAME_COLUMNS_MIN;

  constructor(options: LineOptions) {
    this.#options = options;
    const { withOutput, labels, names = [] } = options;
    const fit = (text: string): string => fitColumns(text, QUESTION_COLUMNS_MAX);
    this.#teller = new RunTeller({ withOutput, fit, ...(labels && { labels }) });
    this.#makeRoom([...names]);
  }

  /** Learns the names of what came before the events that are rendered. */
  know(events: readonly Recorded[]): void {
    this.#teller.know(events);
  }

  /** Each line ends with a line feed; empty for events that are not worth telling. */
  render(recorded: Recorded): string {
    const { run, atMs, event } = recorded;
    this.#startMs ??= atMs;
    if (event.type === 'run.created') {
      this.#makeRoom([run, ...Object.keys(event.workflow.tasks)]);
      if (event.queued) this.#queuedAtMs = atMs;
    }
    const begun = this.#begun(event, atMs);
    const { task, told: all } = this.#teller.tell(recorded);
    const output = event.type === 'attempt.output' ? this.#output(event) : [];
    const told = [...begun, ...all, ...output].flatMap(({ text, ...rest }) =>
      linesOf(text).map((line, n) => ({ text: line, isMore: n > 0, ...rest })),
    );
    if (told.length === 0) return '';
    this.#makeRoom([task]);
    const { paint } = this.#options;
    const time = paint('quiet', formatElapsed(atMs - this.#startMs).padStart(6));
    const name = padColumns(fitColumns(spellControls(task || run), this.#columns), this.#columns);
    return told
      .map(({ text, color, isMore }) => {
        const start = isMore ? ' '.repeat(6 + 2 + this.#columns + 4) : `${time}  ${name}  `;
        return `${start}${color ? paint(color, text) : text}`.trimEnd() + '\n';
      })
      .join('');
  }

  /** The time of a run that waited in the queue begins when an engine takes it. */
  #begun({ type }: Event, atMs: number): AgentLine[] {
    if (type !== 'run.isolation' || this.#queuedAtMs === undefined) return [];
    const waited = formatDuration(Math.max(0, atMs - this.#queuedAtMs));
    this.#queuedAtMs = undefined;
    this.#startMs = atMs;
    return [{ text: `started, after ${waited} in the queue` }];
  }

  #makeRoom(names: string[]): void {
    for (const name of names)
      this.#columns = Math.min(NAME_COLUMNS_MAX, Math.max(this.#columns, name.length));
  }

  #output(event: EventOf<'attempt.output'>): AgentLine[] {
    if (!this.#options.withOutput) return [];
    const text = event.text ?? Buffer.from(event.base64 ?? '', 'base64').toString();
    const mark = event.stream === 'check' || event.stream === 'setup' ? `${event.stream} │` : '│';
    const isLog = this.#teller.isLog(event);
    const lines: AgentLine[] = text
      .replace(/\r?\n$/, '')
      .split(/\r?\n/)
      .map((line) => ({ text: `${mark} ${line}`, ...(isLog && { color: 'quiet' as const }) }));
    const why = event.dropped === 'run' ? ', since the run has printed more than a journal keeps' : '';
    if (event.droppedBytes)
      lines.unshift({
        text: `${mark} … ${formatCount(event.droppedBytes)} bytes left out${why}`,
        color: 'quiet',
      });
    return lines;
  }
}

/** A list of problems has one on each line; what is far longer is not such a list. */
function linesOf(text: string): string[] {
  const lines = text.trimEnd().split('\n').map(plainLine);
  const left = lines.length - LINES_SHOWN_MAX;
  return left > 0 ? [...lines.slice(0, LINES_SHOWN_MAX), `… and ${count(left, 'more line')}`] : lines;
}
