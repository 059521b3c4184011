/**
 * One attempt's life, stage after stage:
 *
 *   base → workspace → sandbox → runtime → collect → check → what came of it
 *
 * The stages know nothing of each other: this file hands values on. Whatever happens on the way, the work is
 * collected; failure, time-out and cancellation are values. What came of it is decided on by `schedule/decide/decide.ts`,
 * recorded by `run/loop.ts`, and merged by `run/merge-queue.ts`.
 */
import path from 'node:path';
import { PassThrough } from 'node:stream';
import type { Attempt, Stages } from './attempt.ts';
import { hasMachineFailed, machineError } from '../base/machine-failure.ts';
import { awakeMs, whenAwakeFor } from '../base/awake.ts';
import { parseDurationMs, parseSizeBytes } from '../base/units.ts';
import { keepArtifacts } from '../collect/artifacts.ts';
import { attemptRef } from '../collect/collect.ts';
import { BosunError, HelperDied } from '../contract/errors.ts';
import { eventProblem } from '../contract/check-event.ts';
import { EVENT_FORMAT, type BuiltOn, type EventOf } from '../contract/event.ts';
import type { AgentError } from '../contract/model.ts';
import type { Collected, FailReason, Outcome } from '../contract/run.ts';
import { takesCommand } from '../contract/runtimes.ts';
import type { Agent, WorkspaceOptions } from '../contract/workflow.ts';
import { joinBases } from '../merge/merge.ts';
import { failed } from '../runtime/agent/command.ts';
import { speaks } from '../runtime/agent/choose-model.ts';
import { OUTPUT_BYTES_MAX, OutputSink } from '../runtime/output/output.ts';
import type { Job, Result, Runtime } from '../runtime/runtime.ts';
import { effectiveLimits, effectiveScope } from '../schedule/workflow/scope-of.ts';
import { giveFiles, type GivenFiles } from './given-files.ts';
import { Conversation } from './conversation.ts';
import { judgeWork, type Ending } from './judge-work.ts';
import { collectFiles } from './collect-files.ts';
import { attemptRuntime, outputSchema, Surroundings } from './surroundings.ts';
import type { Base, Workspace, Workspaces } from '../workspace/workspace.ts';

/** How long work is still collected for somebody who does not want to wait. */
const COLLECT_MS_MAX = 500;

/** `place` was made ahead, with `makePlace`. */
export async function runAttempt(
  stages: Stages,
  attempt: Attempt,
  place?: Promise<AttemptPlace>,
): Promise<EventOf<'attempt.finished'>> {
  const { start } = attempt;
  const beganMs = awakeMs();
  const ended = await live(stages, attempt, place);
  const durationMs = Math.round(awakeMs() - beganMs);
  return sound({ type: 'attempt.finished', task: start.task, attempt: start.attempt, durationMs, ...ended });
}

/** What an agent's program says of its end may be anything; nobody could read a journal with that in it. */
function sound(finished: EventOf<'attempt.finished'>): EventOf<'attempt.finished'> {
  if (eventProblem(finished, EVENT_FORMAT) === undefined) return finished;
  const { type, task, attempt, durationMs, collected } = finished;
  const outcome = failed('agent', "the agent's program ended with a malformed result");
  return { type, task, attempt, durationMs, outcome, ...(collected && { collected }) };
}

/** Where an attempt happens. */
export interface AttemptPlace extends AsyncDisposable {
  around: Surroundings;
  /** Undefined for a task that works on no copy of the repository. */
  workspace: Workspace | undefined;
}

/** Ahead of its start an attempt gets a sandbox too, which then waits for its command. */
export async function makePlace(
  stages: Stages,
  attempt: Attempt,
  { sink, isAhead }: { sink: OutputSink; isAhead: boolean },
): Promise<AttemptPlace> {
  await using made = new AsyncDisposableStack();
  const around = made.use(await Surroundings.make(stages, attempt));
  const workspace = await prepareWorkspace(stages, attempt, around, sink);
  if (isAhead) {
    try {
      await around.prepare(workspace);
    } catch (error) {
      if (workspace) await stages.workspaces.remove(workspace.name); // the attempt itself makes another
      throw error;
    }
  }
  const all = made.move();
  return { around, workspace, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

async function live(
  stages: Stages,
  attempt: Attempt,
  ahead: Promise<AttemptPlace> | undefined,
): Promise<Ending> {
  const sink = outputSink(attempt);
  await using made = new AsyncDisposableStack();
  let place: AttemptPlace;
  try {
    place = made.use(await (ahead ?? makePlace(stages, attempt, { sink, isAhead: false })));
  } catch (error) {
    if (attempt.stop.graceful.aborted) return { outcome: { kind: 'cancelled' } };
    return { outcome: failure('setup', error) };
  }
  const { around, workspace } = place;
  if (workspace) {
    const { name, base } = workspace;
    attempt.emit({ type: 'attempt.workspace', ...names(attempt), workspace: name, base: base.commit });
  }

  const given = await giveFiles(stages, attempt, around.files);
  const said = new Conversation(attempt.start.recap);
  const job = jobOf(attempt, around, { output: sink, said, workspace, given });
  const runtime = await attemptRuntime(attempt).load();
  const result = explained(await runToEnd(runtime, job, around), around.modelError);

  let collected: Collected | undefined;
  try {
    collected = workspace && (await collectWork(stages, attempt, workspace, result.outcome));
  } catch (error) {
    if (result.outcome.kind !== 'done') return { outcome: result.outcome };
    return { outcome: isStopped(attempt, error) ? { kind: 'cancelled' } : failure('collect', error) };
  }
  const ending: Ending = {
    outcome: result.outcome,
    // What an agent gave in so many words comes before what it printed or said last.
    output: result.isStructured || attempt.given === undefined ? result.output : attempt.given,
    ...(result.error && { error: result.error }),
    ...(result.error?.kind === 'context-full' && { story: said.story(collected?.changed ?? []) }),
    ...(collected && { collected }),
  };
  if (result.outcome.kind !== 'done') return ending;
  try {
    return await judgeWork(stages, attempt, around, job, workspace, ending);
  } catch (error) {
    if (!(error instanceof HelperDied)) throw error;
    return { ...ending, outcome: failure('output', error) };
  }
}

export function workspaceId(run: string, task: string, attempt: number): string {
  return `${run}.${task}.${attempt}`;
}

async function prepareWorkspace(
  stages: Stages,
  attempt: Attempt,
  around: Surroundings,
  sink: OutputSink,
): Promise<Workspace | undefined> {
  const { workspaces, git } = stages;
  const { start, task, workflow, continues } = attempt;
  const options = task.workspace ?? workflow.workspace ?? {};
  if (options === 'none') return undefined;
  const joined = continues?.base ?? (await joinBases(git, start.from, attempt.shadow));
  if (joined === undefined && start.publications) throw unjoinable(start.publications);
  const commit = joined ?? attempt.shadow;
  const base = await makeBase(workspaces, attempt, around, commit, options, sink);
  const workspace =
    (continues && (await workspaces.open(continues.workspace, base))) ??
    (await workspaces.create(base, workspaceId(attempt.run, start.task, start.attempt)));
  return workspace;
}

/** All that is merged would do in place of needs that conflict, but it does not have what is only published. */
function unjoinable(publications: readonly BuiltOn[]): BosunError {
  const names = publications.map(({ name, version, task }) => `${name} version ${version} by ${task}`);
  return new BosunError(
    'conflict',
    `the files that were published (${names.join(', ')}) conflict with those of its other needs; let one of these tasks need the other`,
  );
}

async function makeBase(
  workspaces: Workspaces,
  attempt: Attempt,
  around: Surroundings,
  commit: string,
  options: Exclude<WorkspaceOptions, 'none'>,
  sink: OutputSink,
): Promise<Base> {
  let printed: { stream: PassThrough; read: Promise<string> } | undefined;
  const onOutput = (chunk: Buffer): void => {
    if (!printed) {
      const stream = new PassThrough();
      printed = { stream, read: sink.read(stream, 'setup') };
    }
    printed.stream.write(chunk);
  };
  try {
    const hide = effectiveScope(attempt.task, attempt.agent).hide ?? [];
    return await workspaces.base(
      commit,
      { ...options, hide },
      {
        around: options.setup === undefined ? { env: {} } : await around.setup(options.network ?? []),
        onOutput,
        signal: attempt.stop.graceful,
      },
    );
  } finally {
    printed?.stream.end();
    await printed?.read;
  }
}

function jobOf(
  attempt: Attempt,
  around: Surroundings,
  {
    output,
    said,
    workspace,
    given,
  }: {
    output: OutputSink;
    said: Conversation;
    workspace: Workspace | undefined;
    given: GivenFiles | undefined;
  },
): Job {
  const { task, agent, start } = attempt;
  const emit = boundedEvents(attempt);
  const { write } = effectiveScope(task, agent);
  const { minutes } = effectiveLimits(task, agent);
  return {
    agent: agentFor(attempt),
    prompt: [start.prompt, start.recap, given?.words].filter((words) => words !== undefined).join('\n\n'),
    feedback: start.feedback,
    added: attempt.added,
    session: sessionOf(attempt),
    env: { ...around.env, ...given?.env },
    cwd: workspace ? around.seenAt(workspace) : around.files,
    files: around.files,
    memory: around.memory,
    models: around.models,
    schema: outputSchema(attempt),
    mcp: { ...agent?.mcp, ...around.tools },
    isFenced: around.isFenced,
    isReadOnly: write !== undefined && write.length === 0,
    emit: (event) => {
      said.hear(event);
      emit(event);
    },
    ask: (question) => around.held.ask(attempt.ask(question)),
    heldMs: () => around.held.elapsedMs,
    onSteer: (listener) => attempt.onSteer(listener),
    timeoutMs: task.timeout !== undefined ? parseDurationMs(task.timeout) : minutes && minutes * 60_000,
    stop: attempt.stop,
    output,
    launch: (launch) => around.launch(workspace, launch),
  };
}

/**
 * What an agent tells of itself is as much as it may print; after that only how it ends. What is no event at all is left
 * out: its program may say anything, and a journal with that in it could not be read again.
 */
function boundedEvents(attempt: Attempt): Job['emit'] {
  let leftChars = outputBytesMax(attempt) ?? OUTPUT_BYTES_MAX;
  return (event) => {
    const chars = JSON.stringify(event).length;
    leftChars -= chars;
    attempt.printed.leftBytes -= chars;
    const isTooMuch = leftChars < 0 || attempt.printed.leftBytes < 0;
    if (isTooMuch && event.kind !== 'error' && event.kind !== 'finished') return;
    const fact = { type: 'attempt.agent' as const, ...names(attempt), event };
    if (eventProblem(fact, EVENT_FORMAT) === undefined) attempt.emit(fact);
  };
}

/** A command is that of the runtimes that take one; what another falls back to must not get it. */
function agentFor(attempt: Attempt): Agent | undefined {
  const { agent } = attempt;
  const runtime = attemptRuntime(attempt);
  const own = attempt.start.fallback?.model;
  if (!agent || (runtime.name === agent.runtime && own === undefined)) return agent;
  const { command, model: _, ...rest } = agent;
  const model = own ?? (agent.model !== undefined && speaks(runtime, agent.model) ? agent.model : undefined);
  return {
    ...rest,
    runtime: runtime.name,
    ...(takesCommand(runtime.name) && command !== undefined && { command }),
    ...(model !== undefined && { model }),
  };
}

/** The workspace that an agent remembers may be gone: a person has cleaned up. Then it is told everything again. */
function sessionOf({ start, continues }: Attempt): Job['session'] {
  const { session } = start;
  return session && (session.fork || continues !== undefined) ? session : undefined;
}

/** The gateway saw what really happened to a request; what agents make of it differs from one to the other. */
function explained(result: Result, seen: AgentError | undefined): Result {
  const { outcome } = result;
  if (outcome.kind !== 'failed' || outcome.reason !== 'agent' || seen === undefined) return result;
  // What the gateway refuses of its own accord is one turn more than the agent may have.
  const reason = seen.kind === 'budget' ? 'budget' : seen.kind === 'refused' ? 'limit' : 'agent';
  return { ...result, error: seen, outcome: { kind: 'failed', reason, message: seen.message } };
}

/** Somebody would not wait for the work to be collected, and it took long: it stays in the workspace. */
function isStopped({ stop }: Attempt, error: unknown): boolean {
  return stop.now.aborted && error === stop.now.reason;
}

/**
 * Aborts a while after somebody would not wait any more: most work is collected in less time. That of an attempt which
 * was stopped before is collected like any other.
 */
function impatient(now: AbortSignal): Disposable & { signal?: AbortSignal } {
  if (now.aborted) return { [Symbol.dispose]() {} };
  const controller = new AbortController();
  let stopWaiting = (): void => {};
  const hear = (): void =>
    void (stopWaiting = whenAwakeFor(COLLECT_MS_MAX, () => controller.abort(now.reason)));
  now.addEventListener('abort', hear, { once: true });
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      now.removeEventListener('abort', hear);
      stopWaiting();
    },
  };
}

/** The work as a commit under a private ref, whatever became of the attempt. */
async function collectWork(
  stages: Stages,
  attempt: Attempt,
  workspace: Workspace,
  outcome: Outcome,
): Promise<Collected> {
  const { start, task, run, stop } = attempt;
  using waiting = impatient(stop.now);
  const collected = await collectFiles(stages, attempt, workspace, {
    ref: attemptRef(run, start.task, start.attempt),
    message: `${start.task}: attempt ${start.attempt} (${outcome.kind})\n`,
    signal: waiting.signal,
  });
  const globs = start.artifacts ?? task.artifacts;
  if (!globs) return { ...collected, artifacts: [] };
  const directory = path.join(stages.home.run(run), 'artifacts', `${start.task}@${start.attempt}`);
  const { artifacts, refused } = await keepArtifacts(await workspace.find(globs), directory);
  return { ...collected, artifacts, refused: [...collected.refused, ...refused] };
}

export function outputSink(attempt: Attempt): OutputSink {
  return new OutputSink(
    (piece) => attempt.emit({ type: 'attempt.output', ...names(attempt), ...piece }),
    outputBytesMax(attempt),
    attempt.printed,
  );
}

function outputBytesMax({ agent, task }: Attempt): number | undefined {
  const limit = effectiveLimits(task, agent).output;
  return limit === undefined ? undefined : parseSizeBytes(limit);
}

function names({ start }: Attempt): { task: string; attempt: number } {
  return { task: start.task, attempt: start.attempt };
}

/** What was refused (a path, a permission) fails the attempt; anything else is the machine's failure, or a bug. */
function failure(reason: FailReason, error: unknown): Outcome {
  if (error instanceof HelperDied) return { kind: 'lost', because: error.message };
  const isRefusal =
    error instanceof BosunError || typeof (error as NodeJS.ErrnoException).syscall === 'string';
  // The machine's failure is not the task's: the engine stops, and the attempt is made again once it can go on.
  if (!isRefusal || hasMachineFailed(error)) throw error;
  return { kind: 'failed', reason, message: (machineError(error) ?? (error as Error)).message };
}

async function runToEnd(runtime: Runtime, job: Job, around: Surroundings): Promise<Result> {
  try {
    return await runtime.run(job);
  } finally {
    await around.workEnded();
  }
}
