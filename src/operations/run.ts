/** Starting runs and going on with them. Each gives a live run: it can be watched, answered and cancelled. */
import path from 'node:path';
import { hasMachineFailed, machineError } from '../base/machine-failure.ts';
import { BosunError } from '../contract/errors.ts';
import type { Fact, Recorded } from '../contract/event.ts';
import type { Asked, Asking } from '../contract/operations.ts';
import { isOpen, type RunView } from '../contract/run.ts';
import type { Workflow } from '../contract/workflow.ts';
import { ignoredIn } from '../definition/config.ts';
import { resolveInputs } from '../definition/inputs.ts';
import type { Isolation } from '../contract/isolation.ts';
import { createRun } from '../run/create-run.ts';
import { holdBase } from '../run/hold-base.ts';
import type { Drive } from '../run/drive.ts';
import { baseRef } from '../collect/collect.ts';
import { commitDirtyTree } from '../system/git/dirty-tree.ts';
import { LacksObjects, requireObjects } from '../system/git/hold-objects.ts';
import type { Repository } from '../system/git/repository.ts';
import { isSettings } from '../base/settings-path.ts';
import { EnginePool, type EngineUse } from '../run/engine-pool.ts';
import type { Engine, EngineOptions } from '../run/open-engine.ts';
import { checkInput } from './check-input.ts';
import { fittingAnswer } from './fitting-answer.ts';
import { checkIsolation, isolationOf } from '../run/isolation.ts';
import { requireTask } from './find-task.ts';
import { findRun } from '../run/journal.ts';
import type { Once } from '../store/store.ts';
import { lastNumberOf } from '../run/kept-runs.ts';
import type { ModelOptions } from '../run/models.ts';
import type { ProgramHook } from '../run/program-hooks.ts';
import { trustOf } from './queued-trust.ts';
import { requireAgent, requireRetriable } from './retriable.ts';
import { checkTrust } from './trust.ts';

/** Of why a run in the queue was not started: what a person reads. */
const WHY_CHARS_MAX = 4000;

export interface WatchOptions extends ModelOptions {
  /** Runs at work with the same options share an engine of these; else the run has one of its own. */
  engines?: EnginePool;
  /** Hooks that a program has added by now. */
  hooks?(): readonly ProgramHook[];
  /** Is told of everything that happens, once it is in the journal. */
  seen?(events: Recorded[]): void;
  /** Begins a run only once: with the same key a second one is refused. */
  once?: Once;
  /** A named point at which a test may stop the engine. */
  fault?(point: string): void;
}

export type StartOptions = Asked<'run'> & WatchOptions;
/** `onTopOf`: the head of an earlier run, in place of the user's. */
type StartAt = StartOptions & { onTopOf?: string };
export type ResumeOptions = Asked<'resume'> & WatchOptions;
export type RetryOptions = Asked<'retry'> & WatchOptions;

export interface EndedRun extends RunView {
  /** Why its report could not be written, where the machine failed; the run itself is over. */
  unreported?: string;
  /** Why `git gc` may take what the run started from, where that could not be held. */
  unheld?: string;
}

const FILES_NAMED_MAX = 3;

export interface LiveRun {
  id: string;
  /** What holds its commands. */
  isolation: Isolation;
  /** What a person should know before it starts. */
  notes: string[];
  /** Resolves with the run as it ended; rejects where the engine itself could not go on. */
  finished: Promise<EndedRun>;
  cancel(mode: 'graceful' | 'now', by?: string): void;
  /** In a person's words: choices by their numbers or words; or as a list of their labels. Throws what does not fit. */
  answer(question: string, answer: string | readonly string[], by?: string): void;
  /** Nothing new is started and nothing is asked of models: of the run, or of a task and those within it. */
  pause(task?: string, by?: string): void;
  /** It goes on; the run with all its tasks where none is named. */
  unpause(task?: string, by?: string): void;
  /** Says something to the agent of a task. */
  steer(task: string, text: string, by?: string): void;
}

export async function startRun(options: StartAt): Promise<LiveRun> {
  const { source } = options;
  const workflow = withUsd(options);
  const inputs = resolveInputs(workflow, options.inputs ?? {});
  let changing: Promise<string[]> | undefined;
  const onInspected = (repository: Repository): void => {
    changing = repository.changed('all');
    changing.catch(() => {}); // it is awaited below, unless something else is wrong first
  };
  return driven({ ...options, onInspected }, async ({ engine, repository: inspect }, undo) => {
    const repository = await inspect();
    const isolation = checkIsolation(engine, workflow, source);
    checkTrust({ ...options, workflow, top: repository.top, kind: engine.sandbox.kind });
    const models = await engine.checkModels(workflow);
    const notes = [
      ...engine.notes.splice(0),
      ...models,
      ...isolation.notes,
      ...ignoredIn(engine.home.config),
    ];
    const changed = await (changing ?? repository.changed('all'));
    const dirty = changed.length > 0 && (options.dirty ?? false);
    // Workflows and agents are read as they are.
    const own = path.relative(repository.top, path.resolve(options.cwd, source));
    const isOwn = (file: string): boolean => file === own || isSettings(Buffer.from(file));
    const left = changed.filter((file) => !isOwn(file));
    if (!dirty && options.onTopOf === undefined && left.length > 0) notes.push(leftOutNote(left));
    if (repository.submodules) {
      notes.push('submodules are empty directories in workspaces');
    }
    const atMs = Date.now();
    const base = dirty
      ? await commitDirtyTree(engine.stages.git, 'bosun: uncommitted changes\n', atMs, repository)
      : (options.onTopOf ?? repository.head);
    await requireObjects(engine.stages.git, base, 'this run');
    options.signal?.throwIfAborted(); // from here on there is a run, which is cancelled then
    const lastNumber = lastNumberOf(engine.home, workflow.name);
    const goesOver = options.overBudget === 'warn' && { overBudget: options.overBudget };
    const run = { workflow, source, inputs, base, dirty, ...goesOver };
    const { id, claim } = await createRun(engine.store, run, atMs, { lastNumber, once: options.once });
    const drive = undo.use(await engine.drive(id, { ...options, claim }));
    await engine.stages.git.updateRef(baseRef(id), base);
    const held = hold(engine, base, id, undo);
    options.seen?.(await engine.store.read(id)); // its beginning; the rest is told as it happens
    return { drive, facts: [beginning(isolation)], isolation, notes, held };
  });
}

function leftOutNote(files: readonly string[]): string {
  const named = files.slice(0, FILES_NAMED_MAX).join(', ');
  const more = files.length > FILES_NAMED_MAX ? ` and ${files.length - FILES_NAMED_MAX} more` : '';
  return `not committed, so the run does not have it: ${named}${more} (it works from the last commit; --dirty includes them)`;
}

function beginning(isolation: Isolation): Fact {
  return { type: 'run.isolation', ...isolation };
}

function withUsd({ workflow, usd }: StartOptions): Workflow {
  return usd === undefined ? workflow : { ...workflow, budget: { ...workflow.budget, usd } };
}

/**
 * Begins a run that waits in the queue; undefined where it waits no more: another engine was faster, or it was cancelled.
 * One that cannot be driven here ends as cancelled, and says why; where the machine fails it stays pending, and that throws. `fault`
 * is of its journal, which cannot be read.
 */
export async function startQueued(
  options: ResumeOptions & { run: string },
): Promise<{ live: LiveRun; why?: string } | { fault: unknown } | undefined> {
  let why: string | undefined;
  let hasEngine = false;
  const notWaiting = new BosunError('wrong-state', `run ${options.run} waits no more`);
  try {
    const live = await driven(options, async ({ engine }, undo) => {
      hasEngine = true;
      const claim = await engine.store.claim(options.run);
      if (!claim) throw notWaiting;
      const drive = undo.use(await engine.drive(options.run, { ...options, claim }));
      if (!drive.state.pending) throw notWaiting;
      options.seen?.(await engine.store.read(options.run));
      return await ready(engine, drive, undo, options).catch((error: unknown) => {
        if (!(error instanceof BosunError) || error.code === 'journal' || isOfMachine(error)) throw error;
        why = error.message.slice(0, WHY_CHARS_MAX);
        withoutUntrusted(engine, drive, options);
        return unready(engine, drive, why);
      });
    });
    return { live, ...(why !== undefined && { why }) };
  } catch (error) {
    // Whoever is told to stop leaves it to the next one.
    if (options.signal?.aborted && error === options.signal.reason) return undefined;
    if (error === notWaiting) return undefined;
    if (hasEngine && !isOfMachine(error)) return { fault: error };
    throw error;
  }
}

/** It is about no run: the next one would fail as well, and all of them can start once it is over. */
export function isOfMachine(error: unknown): boolean {
  if (error instanceof LacksObjects) return false;
  const isPassing = error instanceof BosunError && ['system', 'busy', 'network'].includes(error.code);
  return isPassing || hasMachineFailed(error);
}

/** The journal tells why; once that is mended, the run can be resumed. */
function unready(engine: Engine, drive: Drive, why: string): Ready {
  const text = `it was not started: ${why}`;
  return {
    drive,
    facts: [
      { type: 'run.noted', text },
      { type: 'run.cancelling', mode: 'now', by: 'bosun' },
    ],
    isolation: isolationOf(engine.sandbox),
    notes: [text],
    held: Promise.resolve(undefined),
  };
}

/** Also a run that only ends calls its hooks, and a journal may be a stranger's. */
function withoutUntrusted(engine: Engine, drive: Drive, options: ResumeOptions): void {
  try {
    checkTrusted(engine, drive, options);
  } catch {
    drive.leaveItsHooks();
  }
}

/** The word of whoever left it in the queue counts until it has begun. */
function checkTrusted(engine: Engine, { state }: Drive, options: ResumeOptions): void {
  const { workflow, source } = state;
  const trust = options.trust ?? trustOf(options.cwd, state);
  const trusted = { ...options, ...(trust !== undefined && { trust }) };
  checkTrust({ ...trusted, workflow, source, top: engine.repository.top, kind: engine.sandbox.kind });
}

/** Ends a run that nobody drives, as its engine would: a report is written and hooks are told. Not one that has ended by now. */
export async function endUndriven(options: Asked<'cancel'> & WatchOptions & { run: string }): Promise<void> {
  const mode = options.now ? 'now' : 'graceful';
  const hasEnded = new BosunError('wrong-state', `run ${options.run} has ended already`);
  try {
    const live = await driven(options, async ({ engine }, undo) => {
      const drive = undo.use(await engine.drive(options.run, options));
      if (!isOpen(drive.state)) throw hasEnded;
      withoutUntrusted(engine, drive, options);
      return {
        drive,
        facts: [{ type: 'run.cancelling', mode, by: options.by }],
        isolation: isolationOf(engine.sandbox),
        notes: [],
        held: Promise.resolve(undefined),
      };
    });
    await live.finished;
  } catch (error) {
    if (error !== hasEnded) throw error;
  }
}

/** Goes on with a run that was interrupted, cancelled or failed. What is done stays done. */
export async function resumeRun(options: ResumeOptions): Promise<LiveRun> {
  return goOn(options, (run) => {
    if (run.state === 'done') {
      throw new BosunError(
        'wrong-state',
        `run ${run.id} is done; see what it did with: bosun diff ${run.id}`,
      );
    }
    return run.pending ? undefined : { type: 'run.resumed', by: options.by };
  });
}

/** Tries one task again, and whatever was waiting for it. */
export async function retryTask(options: RetryOptions): Promise<LiveRun> {
  const { task } = options;
  return goOn(options, async (run, drive) => {
    if (run.pending)
      throw new BosunError(
        'wrong-state',
        `run ${run.id} waits in the queue and has not begun: start it with: bosun resume ${run.id}`,
      );
    const node = await requireTask(run.id, [...drive.state.nodes.values()], task);
    requireRetriable(drive.state, node, task);
    const { feedback } = options;
    if (feedback !== undefined) requireAgent(node, task);
    return {
      type: 'task.retried',
      task: node.id,
      by: options.by,
      ...(feedback !== undefined && { feedback }),
    };
  });
}

async function goOn(
  options: ResumeOptions,
  /** None where it begins for the first time. */
  fact: (run: RunView, drive: Drive) => Fact | undefined | Promise<Fact>,
): Promise<LiveRun> {
  return driven(options, async ({ engine }, undo) => {
    const { id } = await findRun(engine, options.run);
    const drive = undo.use(await engine.drive(id, options));
    const run = await findRun(engine, id); // nobody else changes it any more
    const begun = await ready(engine, drive, undo, options);
    const first = await fact(run, drive);
    if (!first) return begun;
    // A run that was interrupted goes on where it stood, whatever else is asked of it.
    const facts: Fact[] =
      run.state === 'cancelling' && first.type !== 'run.resumed'
        ? [{ type: 'run.resumed', by: options.by }, first]
        : [first];
    return { ...begun, facts: [...begun.facts, ...facts] };
  });
}

/** Checks a run that is in the journal against this machine, before anything of it starts. */
async function ready(
  engine: Engine,
  drive: Drive,
  undo: AsyncDisposableStack,
  options: ResumeOptions,
): Promise<Ready> {
  const { id, workflow, source, base } = drive.state;
  // A run keeps the workflow that it was started with, whatever the file says by now.
  const isolation = checkIsolation(engine, workflow, `${source} (as run ${id} was started)`);
  checkTrusted(engine, drive, options);
  await engine.checkModels(workflow);
  await requireObjects(engine.stages.git, base, `run ${id}`);
  options.signal?.throwIfAborted();
  const held = hold(engine, base, id, undo);
  const notes = [...engine.notes.splice(0), ...isolation.notes, ...ignoredIn(engine.home.config)];
  return { drive, facts: [beginning(isolation)], isolation, notes, held };
}

/** A run that is ready to be driven. */
interface Ready {
  drive: Drive;
  /** What makes it go on. */
  facts: Fact[];
  isolation: Isolation;
  notes: string[];
  held: Promise<string | undefined>;
}

/** What `begin` adds to the stack, and the engine, are there until the run has ended. */
async function driven(
  options: WatchOptions & Asking & Pick<EngineOptions, 'onInspected'>,
  begin: (use: EngineUse, undo: AsyncDisposableStack) => Promise<Ready>,
): Promise<LiveRun> {
  const { engines = new EnginePool(), cwd } = options;
  const undo = new AsyncDisposableStack();
  const use = undo.use(await engines.enter(cwd, options));
  try {
    return live(use, await begin(use, undo), undo, options);
  } catch (error) {
    return await closeAfter(undo, error);
  }
}

function live(
  { engine, closing }: EngineUse,
  ready: Ready,
  undo: AsyncDisposableStack,
  { by: who, signal }: Asking,
): LiveRun {
  const { drive, facts, isolation, notes } = ready;
  const { id } = drive.state;
  undo.defer(() => drive.endHooks());
  const told = new AbortController();
  const telling = engine.tellEnded(told.signal).catch(() => {}); // it is of other runs: the next engine tries again
  undo.defer(async () => {
    told.abort();
    await telling;
  });
  const end = async (): Promise<EndedRun> => {
    let ended: EndedRun;
    try {
      await drive.run(facts);
      // Loaded when it is needed: what the engine holds in memory makes every start of a process dearer.
      const { writeReport } = await import('./report.ts');
      const unreported = await writeReport(engine, id).then(
        () => undefined,
        (error: unknown) => tellUnreported(error, id),
      );
      await drive.tellEnd();
      await telling;
      const unheld = await ready.held;
      ended = {
        ...(await findRun(engine, id)),
        ...(unreported !== undefined && { unreported }),
        ...(unheld !== undefined && { unheld }),
      };
    } catch (error) {
      return await closeAfter(undo, error);
    }
    await undo.disposeAsync();
    return ended;
  };
  const stop = (): void => drive.cancel('graceful', who);
  for (const asking of [closing, signal]) {
    asking?.addEventListener('abort', stop, { once: true });
    undo.defer(() => asking?.removeEventListener('abort', stop));
    if (asking?.aborted) stop();
  }
  const finished = end();
  finished.catch(() => {}); // whoever awaits it is told; nobody has to
  return {
    id,
    isolation,
    notes,
    finished,
    ...wordsTo(drive, who),
  };
}

/** What is said to it here is held against the table as what comes from another process is. */
function wordsTo(
  drive: Drive,
  who: string,
): Pick<LiveRun, 'cancel' | 'answer' | 'pause' | 'unpause' | 'steer'> {
  const named = (task: string | undefined): { name?: string } => (task === undefined ? {} : { name: task });
  return {
    cancel(mode, by = who) {
      if (!['graceful', 'now'].includes(mode))
        throw new BosunError('usage', 'cancel: the mode must be graceful or now');
      drive.cancel(mode, by);
    },
    answer(question, answer, by = who) {
      checkInput('answer', { question, ...(typeof answer === 'string' ? { answer } : { chosen: answer }) });
      const asked = drive.state.questions.get(question);
      if (asked) drive.answer(question, fittingAnswer(asked, answer), by);
    },
    pause(task, by = who) {
      checkInput('pause', named(task));
      drive.pause(task, by);
    },
    unpause(task, by = who) {
      checkInput('unpause', named(task));
      drive.unpause(task, by);
    },
    steer(task, text, by = who) {
      checkInput('steer', { task, text });
      drive.steer(task, text, by);
    },
  };
}

/** The first cause counts, whatever else fails while the engine is closed. */
async function closeAfter(undo: AsyncDisposableStack, error: unknown): Promise<never> {
  await undo.disposeAsync().then(undefined, () => {});
  throw error;
}

/** Goes on beside the run, which does not depend on it; the engine closes after it. Gives why it failed. */
function hold(
  engine: Engine,
  base: string,
  run: string,
  undo: AsyncDisposableStack,
): Promise<string | undefined> {
  const held = holdBase(engine.stages.git, base, `run ${run}`);
  undo.defer(async () => void (await held));
  return held;
}

function tellUnreported(error: unknown, id: string): string {
  const failed = machineError(error, `the report of run ${id} could not be written`);
  if (!failed) throw error;
  return `${failed.message}, then: bosun report ${id}`;
}
