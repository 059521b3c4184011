/** The report of a run: built from its journal and its commits, written beside it when it ends. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Breather } from '../base/breather.ts';
import type { Event, ValueRef } from '../contract/event.ts';
import type { Reading } from '../contract/operations.ts';
import type { RunReport } from '../contract/report.ts';
import { isOpen, type RunView } from '../contract/run.ts';
import type { Json } from '../contract/workflow.ts';
import { ReportReader } from '../report/build.ts';
import { renderHtml } from '../report/html/html.ts';
import { renderJson } from '../report/json.ts';
import { HISTORY_LIMITS } from '../schedule/history/limits.ts';
import { renderTextReport } from '../report/text/text.ts';
import { PatchReader, type Patch } from '../report/patch/patch-reader.ts';
import { JournalHash } from '../report/journal-hash.ts';
import { eventsOf, noBeginning } from '../store/events.ts';
import { whole } from '../store/values.ts';
import { openEngineGit, type EngineGit } from '../system/git/engine-git.ts';
import { assertOwnRun } from '../system/files/own-state.ts';
import { inspectRepository } from '../system/git/repository.ts';
import { AttemptBases } from './attempt-bases.ts';
import type { Engine } from '../run/open-engine.ts';
import { findHome } from '../store/home.ts';
import { findRun, openJournal, shownState, type Journal } from '../run/journal.ts';

const DIFFS_MAX = 200;

export interface ReportFiles {
  html: string;
  json: string;
  text: string;
}

export async function reportOf(options: Reading<'report'>): Promise<RunReport> {
  await using journal = await openJournal(options.cwd);
  const run = await findRun(journal, options.run);
  // It is the same as what would be made now, and there is no need to ask git again.
  const written = options.written && (await writtenReport(journal, run));
  if (written) return written;
  const git = await openEngineGit(await inspectRepository(journal.home.top));
  return await makeReport(journal, git, run.id, options.signal);
}

/** Where the page of a run lies; it is written anew where the run has not ended. */
export async function reportPage(options: Reading<'reportPage'>): Promise<{ file: string }> {
  const report = await reportOf(options);
  const directory = findHome(options.cwd)!.run(report.run.id);
  assertOwnRun(directory);
  const files = reportFiles(directory);
  const { html } = files;
  if (!existsSync(html) || !isOfThisEnd(await readReport(files), report.run.endedAtMs)) {
    await mkdir(directory, { recursive: true });
    await writeWhole(html, renderHtml(report));
  }
  return { file: html };
}

/** What was written when the run ended; nothing where it is open, or its engine has yet to write of this end. */
async function writtenReport({ home }: Journal, run: RunView): Promise<RunReport | undefined> {
  if (isOpen(run)) return undefined;
  const report = await readReport(reportFiles(home.run(run.id)));
  return isOfThisEnd(report, run.endedAtMs ?? null) ? report : undefined;
}

async function readReport({ json }: ReportFiles): Promise<RunReport | undefined> {
  const text = await readFile(json, 'utf8').catch(() => undefined);
  return text ? (JSON.parse(text) as RunReport) : undefined;
}

/** A run that was resumed or retried ends again, and the report of its earlier end is there until then. */
function isOfThisEnd(report: RunReport | undefined, endedAtMs: number | null): boolean {
  return endedAtMs !== null && report?.run.endedAtMs === endedAtMs;
}

/** Writes report.html, report.json and report.txt; the run itself is over by now. */
export async function writeReport(engine: Engine, id: string): Promise<ReportFiles> {
  const report = await makeReport(engine, engine.stages.git, id);
  const directory = engine.home.run(id);
  await mkdir(directory, { recursive: true });
  const files = reportFiles(directory);
  await Promise.all([
    writeWhole(files.html, renderHtml(report)),
    writeWhole(files.text, renderTextReport(report, { color: false, width: 100 })),
  ]);
  await writeWhole(files.json, renderJson(report)); // the last one: it says of which end the others are
  return files;
}

/** All of it or nothing: half a report is worse than none. */
async function writeWhole(file: string, text: string): Promise<void> {
  const fresh = `${file}.new`;
  try {
    await writeFile(fresh, text, { mode: 0o600 });
    await rename(fresh, file);
  } catch (error) {
    await rm(fresh, { force: true }).catch(() => {});
    throw error;
  }
}

function reportFiles(directory: string): ReportFiles {
  const file = (name: string): string => path.join(directory, name);
  return { html: file('report.html'), json: file('report.json'), text: file('report.txt') };
}

async function makeReport(
  journal: Journal,
  git: EngineGit,
  id: string,
  signal?: AbortSignal,
): Promise<RunReport> {
  const { store } = journal;
  const run = await findRun(journal, id);
  const ranges = new Ranges();
  const hash = run.spending && new JournalHash();
  const breather = new Breather();
  const read = (ref: ValueRef): Json => store.value(id, ref);
  const reader = new ReportReader();
  // One by one, since there may be gigabytes of them.
  for await (const recorded of eventsOf(store, id, { valueBytesMax: 0 })) {
    const { event } = recorded;
    const isTold = event.type === 'task.finished' || event.type === 'message.sent';
    const told = isTold ? whole(event, read, HISTORY_LIMITS.outputChars) : event;
    reader.add(recorded, told);
    ranges.add(event);
    hash?.add(whole(event, read));
    await breather.breathe();
    signal?.throwIfAborted();
  }
  const isSame = run.headCommit === run.baseCommit; // then it need not be there any more
  const numbers = isSame ? [] : await git.numstat(run.baseCommit, run.headCommit);
  const sum = (of: (one: (typeof numbers)[number]) => number | undefined): number =>
    numbers.reduce((total, one) => total + (of(one) ?? 0), 0);
  const changed = {
    files: numbers.length,
    linesAdded: sum(({ added }) => added),
    linesRemoved: sum(({ deleted }) => deleted),
  };
  const report = reader.report({
    ...(hash && { hash: await hashOf(git, hash, run.headCommit) }),
    changed,
    diffs: await ranges.diffs(git, signal),
    shownState: await shownState(journal, run),
  });
  if (!report) throw noBeginning(id);
  return report;
}

async function hashOf(git: EngineGit, hash: JournalHash, head: string): Promise<string> {
  const tree = await git.text(['rev-parse', `${head}^{tree}`]);
  return createHash('sha256').update(`${hash.digest()} ${tree}`).digest('hex');
}

/** What each task brought to the branch; for one that failed, what its last attempt left. */
class Ranges {
  readonly #bases = new AttemptBases();
  readonly #ranges = new Map<string, [string, string]>();

  add(event: Event): void {
    this.#bases.add(event);
    if (event.type !== 'attempt.finished' || !event.collected || event.collected.changedCount === 0) return;
    const base = this.#bases.of(event.task);
    if (base !== undefined) this.#ranges.set(event.task, [base, event.collected.commit]);
  }

  async diffs(git: EngineGit, signal: AbortSignal | undefined): Promise<Map<string, Patch>> {
    const changed = [...this.#ranges].filter(([, [from, to]]) => from !== to).slice(0, DIFFS_MAX);
    const diffs = new Map<string, Patch>();
    for (const [task, [from, to]] of changed) {
      const reader = new PatchReader();
      await git.streamDiff(from, to, (piece) => reader.add(piece), signal);
      diffs.set(task, reader.end());
    }
    return diffs;
  }
}
