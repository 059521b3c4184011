/** Shows a run that this process drives until it ends: a live view in a terminal, lines elsewhere, or NDJSON. */
import { machineError } from '../../base/machine-failure.ts';
import { BosunError } from '../../contract/errors.ts';
import type { Recorded } from '../../contract/event.ts';
import { isFenced } from '../../contract/isolation.ts';
import type { EndedRun, LiveRun } from '../../operations/run.ts';
import { describeIsolation } from '../../report/isolation.ts';
import { plainLine, safeJson } from '../../report/text/plain.ts';
import { renderTextReport } from '../../report/text/text.ts';
import { NAMING, TaskNames } from '../../schedule/views/task-names.ts';
import { ask } from './ask.ts';
import { answerCommand } from '../../report/lines/question-lines.ts';
import { given, isOn, type Typed } from './command.ts';
import { EventLines } from '../../report/lines/event-lines.ts';
import { isApart } from '../apart.ts';
import { tellDetached } from './detach.ts';
import { exitOf } from './exit-codes.ts';
import { isForeground } from './foreground.ts';
import { Interrupts } from './interrupts.ts';
import { LiveShow } from './live/show.ts';
import { withTrust } from './with-trust.ts';
import {
  columnsOfStream,
  hasColor,
  outliveReader,
  painter,
  writeError,
  writeOut,
  say,
  writeData,
} from './output.ts';

/** One way of showing what happens. */
export interface Show {
  seen(events: Recorded[]): void;
  say(text: string): void;
  /** The run is there: its questions can be answered. */
  attach?(live: Answerable, interrupts: Pressable): void;
  close?(): void;
}

/** What the keys of a live view reach. */
export interface Answerable {
  answer(question: string, answer: string | readonly string[]): void;
  steer(task: string, text: string): void;
  /** The run with all its tasks, where none is named. */
  pause(task?: string): void;
  unpause(task?: string): void;
}

export interface Pressable {
  /** Ctrl-C. */
  press(): void;
  /** Where Ctrl-C is not what cancels the run. */
  cancel?(): void;
}

type Start = (seen: (events: Recorded[]) => void) => Promise<LiveRun>;

interface Watched {
  /** The run that is gone on with. */
  earlier?: { run?: string };
  /** The task whose answer is the data, in place of the report. */
  answerOf?(): string | undefined;
}

/** Resolves with the exit code. */
export function watch(typed: Typed, start: Start, watched: Watched = {}): Promise<number> {
  return withTrust(() => watchOnce(typed, start, watched));
}

async function watchOnce(typed: Typed, start: Start, { earlier, answerOf }: Watched): Promise<number> {
  outliveReader();
  const asJson = isOn(typed, 'json');
  const show = isApart ? SILENT : await openShow(typed, earlier);
  using interrupts = new Interrupts((text) => show.say(text));
  let live: LiveRun | undefined;
  let ended: EndedRun;
  try {
    live = await start((events) => show.seen(events));
    if (!isFenced(live.isolation))
      show.say(`WARNING: ${describeIsolation(live.isolation)}; bosun doctor says what to do`);
    for (const note of live.notes) show.say(`note: ${note}`);
    if (isApart && !tellDetached(live.id)) live.cancel('now'); // nobody was told that there is a run
    interrupts.attach(live);
    show.attach?.(live, interrupts);
    ended = await live.finished;
  } catch (error) {
    // The engine could not go on; the run can.
    throw live ? interrupted(error, live.id) : error;
  } finally {
    show.close?.();
  }
  if (isApart) return exitOf(ended);
  const task = answerOf?.();
  if (!asJson) await tellReport(live.id, task === undefined ? 'stdout' : 'stderr');
  if (!asJson && task !== undefined) await tellAnswer(live.id, task);
  if (ended.unreported !== undefined) say(ended.unreported);
  if (ended.unheld !== undefined) say(ended.unheld);
  return exitOf(ended);
}

function interrupted(error: unknown, run: string): unknown {
  const known = error instanceof BosunError ? error : machineError(error);
  const next = `run ${run} was interrupted; continue with: bosun resume ${run}`;
  if (known) return new BosunError(known.code, `${known.message}; ${next}`, { cause: error });
  say(next);
  return error;
}

/** Nobody watches: whoever wants to can attach. */
const SILENT: Show = { seen() {}, say: (text) => say(text) };

/** `earlier`: a run that is gone on with, whose past is shown too. */
export async function openShow(typed: Typed, earlier?: Watched['earlier']): Promise<Show> {
  if (isOn(typed, 'json')) return showJson(earlier);
  return isTerminal() ? LiveShow.open(earlier) : showLines(isOn(typed, 'verbose'), earlier);
}

/** Of the events of an earlier run those that lines depend on: what tasks are called, and what was asked. */
async function recall(earlier: Watched['earlier'], know: (events: Recorded[]) => void): Promise<void> {
  const types = [...NAMING, 'question.asked' as const];
  if (earlier) await ask('logs', { ...given('run', earlier.run), types }, { seen: know });
}

export function isTerminal(): boolean {
  return process.stderr.isTTY && process.env.TERM !== 'dumb' && isForeground();
}

async function showJson(earlier: Watched['earlier']): Promise<Show> {
  const names = new TaskNames();
  await recall(earlier, (events) => events.forEach(({ event }) => names.add(event)));
  return {
    seen: (events) => {
      writeOut(events.map((recorded) => `${safeJson(recorded)}\n`).join(''));
      for (const { event, run } of events) {
        names.add(event);
        if (event.type === 'question.asked')
          writeError(`${names.of(event.task)} asks: answer with: ${answerCommand(event.id, event, run)}\n`);
      }
    },
    say: (text) => say(text),
  };
}

async function showLines(withOutput: boolean, earlier: Watched['earlier']): Promise<Show> {
  const lines = new EventLines({ paint: painter(hasColor(process.stderr)), withOutput });
  await recall(earlier, (events) => lines.know(events));
  return {
    seen: (events) => writeError(events.map((recorded) => lines.render(recorded)).join('')),
    say: (text) => say(text),
  };
}

export async function tellReport(run: string, to: 'stdout' | 'stderr'): Promise<void> {
  const report = await ask('report', { run, written: true });
  if (process.stderr.isTTY || process.stdout.isTTY) writeError('\n');
  const stream = process[to];
  const text = renderTextReport(report, {
    color: hasColor(stream),
    width: columnsOfStream(stream),
    withoutAnswers: to === 'stderr', // stdout has it
  });
  if (to === 'stdout') writeOut(text);
  else writeError(text);
}

/** A terminal gets it without what would drive it; a program byte for byte. */
async function tellAnswer(run: string, task: string): Promise<void> {
  const { output: answer } = await ask('output', { run, task });
  if (answer === undefined || answer === null || answer === '') return;
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
  if (process.stderr.isTTY && process.stdout.isTTY) writeError('\n');
  const lines = process.stdout.isTTY ? text.split('\n').map(plainLine).join('\n') : text;
  writeData(lines.endsWith('\n') ? lines : `${lines}\n`);
}
