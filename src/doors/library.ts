/** The library door: the operations of the table as methods on an open repository. It holds no logic. */
import type { Actor } from '../contract/actor.ts';
import type { Recorded } from '../contract/event.ts';
import type { InputOf, OperationName, OutputOf } from '../contract/operations.ts';
import type {
  Answered,
  Branch,
  Budgets,
  Changes,
  Cloned,
  Committed,
  Fetched,
  GitStatus,
  Merged,
  MergePreview,
  MergeUndone,
  Overview,
  PullRequest,
  Pushed,
  PushedBranch,
  ShownRun,
  Status,
  Paused,
  Unpaused,
} from '../contract/outputs.ts';
import type { Messages } from '../contract/report-schema.ts';
import type { RunReport } from '../contract/report.ts';
import type { QuestionView, RunView } from '../contract/run.ts';
import type { HookFunction, HookName, HookOptions } from '../contract/hook.ts';
import type { Json, Workflow } from '../contract/workflow.ts';
import type { AttachedRun } from '../operations/attach.ts';
import { speakTo, type SpokenTo } from './speak-to-run.ts';
import type { OpenedService } from '../operations/open.ts';
import { followLogs, perform, type AnswerTo, type AskedFrom } from '../operations/perform.ts';
import type { LiveRun } from '../operations/run.ts';
import { EnginePool } from '../run/engine-pool.ts';
import { RunQueues } from '../run/run-queue.ts';
import { ProgramHooks, type ProgramHook } from '../run/program-hooks.ts';

/** What an operation takes besides what its method names. */
type Rest<Name extends OperationName, Named extends string> = Omit<InputOf<Name>, Named> &
  Partial<Omit<AskedFrom<Name>, 'cwd' | 'by' | 'waitsMs'>>;

export type RunOptions = Rest<'run', 'workflow' | 'source'>;

interface BosunOptions {
  /** What the program calls itself: people read in the log of a run who answered, steered or cancelled. */
  name?: string;
}

interface Diff extends Changes {
  patch: Buffer;
}

export class Bosun implements AsyncDisposable {
  readonly #cwd: string;
  readonly #by: Actor;
  readonly #engines = new EnginePool();
  readonly #queues = new RunQueues();
  readonly #hooks = new ProgramHooks();

  /** `directory` lies in a git repository. */
  constructor(directory: string, { name }: BosunOptions = {}) {
    this.#cwd = directory;
    this.#by = { kind: 'program', ...(name !== undefined && { name }) };
  }

  /** Cancels the runs that it still drives, and resolves when they have ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#engines[Symbol.asyncDispose](), this.#queues[Symbol.asyncDispose]()]);
  }

  /** What `await using` does at the end of its block. */
  close(): Promise<void> {
    return this[Symbol.asyncDispose]();
  }

  /**
   * Calls a function before an attempt, which may veto it, or after the fact, in all runs that this Bosun drives. Gives an
   * id for `removeHook`.
   */
  addHook<N extends HookName>(moment: N, call: HookFunction<N>, options: HookOptions = {}): string {
    return this.#hooks.add(moment, call as HookFunction, options);
  }

  /** Whether it was there. */
  removeHook(id: string): boolean {
    return this.#hooks.remove(id);
  }

  run(workflow: Workflow, options: RunOptions = {}): Promise<LiveRun> {
    return this.#ask('run', { workflow, source: 'library' }, { ...this.#driving, ...options });
  }

  /** Records a run for the next engine that looks; resolves once it is in the journal. */
  queue(workflow: Workflow, options: Rest<'queue', 'workflow' | 'source'> = {}): Promise<OutputOf<'queue'>> {
    return this.#ask('queue', { workflow, source: 'library' }, { queues: this.#queues, ...options });
  }

  /** The same for one agent or one command. */
  queueExec(options: Rest<'queueExec', never>): Promise<OutputOf<'queueExec'>> {
    return this.#ask('queueExec', {}, { queues: this.#queues, ...options });
  }

  /** Drives what waits in the queue, until none is left; with `stay`, until the signal. */
  work(options: Rest<'work', never> = {}): Promise<OutputOf<'work'>> {
    return this.#ask('work', {}, { ...this.#driving, ...options });
  }

  /** In a process of its own, which drives the run when this program is gone. */
  start(options: Rest<'start', never> = {}): Promise<OutputOf<'start'>> {
    return this.#ask('start', {}, options);
  }

  resume(run?: string, options: Rest<'resume', 'run'> = {}): Promise<LiveRun> {
    return this.#ask('resume', named(run), { ...this.#driving, ...options });
  }

  retry(task: string, run?: string, options: Rest<'retry', 'task' | 'run'> = {}): Promise<LiveRun> {
    return this.#ask('retry', { task, ...named(run) }, { ...this.#driving, ...options });
  }

  cancel(run?: string, options: Rest<'cancel', 'run'> = {}): Promise<RunView> {
    return this.#ask('cancel', named(run), { ...options, hooks: this.#driving.hooks });
  }

  /** `yes`, a choice by its number or words, or text; a list of labels where several can be chosen. */
  answer(
    answer: string | readonly string[],
    question?: string,
    run?: string,
    options: Rest<'answer', 'answer' | 'chosen' | 'question' | 'run'> = {},
  ): Promise<Answered> {
    const said = typeof answer === 'string' ? { answer } : { chosen: answer };
    return this.#ask(
      'answer',
      { ...said, ...(question !== undefined && { question }), ...named(run) },
      options,
    );
  }

  /** `name`: a run, or a task of the run in `options`. */
  pause(name?: string, options: Rest<'pause', 'name'> = {}): Promise<Paused> {
    return this.#ask('pause', name === undefined ? {} : { name }, options);
  }

  /** Lets it go on where a process drives it; `resume` is for a run that nobody drives. */
  unpause(name?: string, options: Rest<'unpause', 'name'> = {}): Promise<Unpaused> {
    return this.#ask('unpause', name === undefined ? {} : { name }, options);
  }

  steer(
    task: string,
    text: string,
    run?: string,
    options: Rest<'steer', 'task' | 'text' | 'run'> = {},
  ): Promise<{ run: string }> {
    return this.#ask('steer', { task, text, ...named(run) }, options);
  }

  status(run?: string, options: Rest<'status', 'run'> = {}): Promise<Status> {
    return this.#ask('status', named(run), options);
  }

  /** All runs that an engine drives, what needs a person first. */
  atWork(options: Rest<'atWork', never> = {}): Promise<ShownRun[]> {
    return this.#ask('atWork', {}, options);
  }

  /** What the runs at work ask, each with its run. */
  async questions(options: Rest<'atWork', never> = {}): Promise<(QuestionView & { run: string })[]> {
    const runs = await this.atWork(options);
    return runs.flatMap(({ id, questions }) => questions.map((question) => ({ run: id, ...question })));
  }

  history(limit?: number, options: Rest<'history', 'limit'> = {}): Promise<ShownRun[]> {
    return this.#ask('history', limit === undefined ? {} : { limit }, options);
  }

  /** What runs cost, how long they took and how often they failed. */
  totals(per: InputOf<'totals'>['per'], options: Rest<'totals', 'per'> = {}): Promise<OutputOf<'totals'>> {
    return this.#ask('totals', { per }, options);
  }

  /** What a run of this workflow may cost and how long it may take, by its last runs. */
  forecast(workflow: string, options: Rest<'forecast', 'workflow'> = {}): Promise<OutputOf<'forecast'>> {
    return this.#ask('forecast', { workflow }, options);
  }

  events(
    run?: string,
    { signal, ...input }: Omit<Rest<'logs', 'run'>, 'seen'> = {},
  ): AsyncGenerator<Recorded[]> {
    const around = { cwd: this.#cwd, by: this.#by, ...(signal && { signal }) };
    return followLogs({ ...named(run), ...input }, around);
  }

  /** The events of a run one after another, as they happen, until it ends or nobody drives it any more. */
  async *watch(
    run?: string,
    options: Omit<Rest<'logs', 'run' | 'follow'>, 'seen'> = {},
  ): AsyncGenerator<Recorded, void> {
    for await (const page of this.events(run, { ...options, follow: true })) yield* page;
  }

  /** The events of all runs, in the order in which they happened; resolves when there are no more, or the signal aborts. */
  allEvents(
    seen: AskedFrom<'events'>['seen'],
    options: Rest<'events', never> = {},
  ): Promise<OutputOf<'events'>> {
    return this.#ask('events', {}, { ...options, seen });
  }

  /** Watches a run that another process drives; the signal stops that, and the run continues. */
  async attach(run: string | undefined, options: Rest<'attach', 'run'>): Promise<AttachedRun & SpokenTo> {
    const attached = await this.#ask('attach', named(run), options);
    return { ...attached, ...speakTo(attached.id, { cwd: this.#cwd, by: this.#by }) };
  }

  /** Resolves with the runs as they ended; without names, with the only one at work. */
  wait(runs: readonly string[] = [], options: Rest<'wait', 'runs'> = {}): Promise<RunView[]> {
    return this.#ask('wait', { runs }, options);
  }

  /** What all runs have spent and may spend, today and this month, where there are limits. */
  sharedBudgets(options: Rest<'sharedBudgets', never> = {}): Promise<OutputOf<'sharedBudgets'>> {
    return this.#ask('sharedBudgets', {}, options);
  }

  budget(run?: string, options: Rest<'budget', 'run'> = {}): Promise<Budgets> {
    return this.#ask('budget', named(run), options);
  }

  setBudget(
    limits: Rest<'setBudget', 'run'>,
    run?: string,
  ): Promise<{ run: string; account: string; isLive: boolean }> {
    return this.#ask('setBudget', named(run), limits);
  }

  async diff(
    run?: string,
    task?: string,
    options: Rest<'diff', 'run' | 'task' | 'stat'> = {},
  ): Promise<Diff> {
    const pieces: Buffer[] = [];
    const input = { ...named(run), ...(task !== undefined && { task }) };
    const write = (piece: Buffer): void => void pieces.push(piece);
    const changes = await this.#ask('diff', input, { ...options, write });
    return { ...changes, patch: Buffer.concat(pieces) };
  }

  report(run?: string, options: Rest<'report', 'run'> = {}): Promise<RunReport> {
    return this.#ask('report', named(run), options);
  }

  /** What agents said to each other, and who has read it. */
  messages(run?: string, options: Rest<'messages', 'run'> = {}): Promise<Messages> {
    return this.#ask('messages', named(run), options);
  }

  /** What a task gave: the agent's answer, or what a command printed. */
  async output(
    task: string,
    run?: string,
    options: Rest<'output', 'task' | 'run'> = {},
  ): Promise<Json | undefined> {
    return (await this.#ask('output', { task, ...named(run) }, options)).output;
  }

  /** The tasks of a run, in the order in which they are shown. */
  tasks(run?: string, options: Rest<'tasks', 'run'> = {}): Promise<OutputOf<'tasks'>> {
    return this.#ask('tasks', named(run), options);
  }

  /** What was tried for a task, and what became of each attempt. */
  attempts(
    task: string,
    run?: string,
    options: Rest<'attempts', 'task' | 'run'> = {},
  ): Promise<OutputOf<'attempts'>> {
    return this.#ask('attempts', { task, ...named(run) }, options);
  }

  /** Files that a task kept, by their paths. */
  artifacts(
    task: string,
    run?: string,
    options: Rest<'artifacts', 'task' | 'run'> = {},
  ): Promise<OutputOf<'artifacts'>> {
    return this.#ask('artifacts', { task, ...named(run) }, options);
  }

  /** What is in one of them, piece by piece. */
  artifact(
    path: string,
    task: string,
    run: string | undefined,
    options: Rest<'artifact', 'path' | 'task' | 'run'> & Pick<AskedFrom<'artifact'>, 'write'>,
  ): Promise<OutputOf<'artifact'>> {
    return this.#ask('artifact', { path, task, ...named(run) }, options);
  }

  /** What an agent serves, on a port of this machine, until it is closed or gone. */
  open(service: string, run?: string, options: Rest<'open', 'service' | 'run'> = {}): Promise<OpenedService> {
    return this.#ask('open', { service, ...named(run) }, options);
  }

  /** One agent with a prompt, or one command, with no workflow file. */
  exec(options: Rest<'exec', never>): Promise<LiveRun & { task: string }> {
    return this.#ask('exec', {}, { ...this.#driving, ...options });
  }

  /**
   * Starts an agent on a prompt: as a child of the task `RUN/TASK` while that is at work; on what that left once it is
   * done, as a run of its own; or with no parent. Resolves once it is in the journal; with `queue`, an engine takes it later.
   */
  spawnAgent(
    parent: string | undefined,
    role: string | undefined,
    prompt: string,
    options: Rest<'spawnAgent', 'parent' | 'role' | 'prompt'> = {},
  ): Promise<AnswerTo<'spawnAgent'>> {
    const input = { ...(parent !== undefined && { parent }), ...(role !== undefined && { role }), prompt };
    return this.#ask('spawnAgent', input, { ...this.#driving, queues: this.#queues, ...options });
  }

  /** The agents of a run, with their parents: pending, active, completed or failed. */
  agents(run?: string): Promise<OutputOf<'agents'>> {
    return this.#ask('agents', named(run));
  }

  /** A workflow file: what it says, and what is wrong with it. */
  check(file?: string, options: Rest<'check', 'file'> = {}): Promise<OutputOf<'check'>> {
    return this.#ask('check', file === undefined ? {} : { file }, options);
  }

  /** Every key with its value and where that came from; or `key` alone, with what is within it. */
  config(key?: string, options: Rest<'config', 'key'> = {}): Promise<OutputOf<'config'>> {
    return this.#ask('config', key === undefined ? {} : { key }, options);
  }

  doctor(options: Rest<'doctor', never> = {}): Promise<OutputOf<'doctor'>> {
    return this.#ask('doctor', {}, options);
  }

  /** The hooks of your configuration and of a workflow file, in their order; not those that were added here. */
  hooks(file?: string, options: Rest<'hooks', 'file'> = {}): Promise<OutputOf<'hooks'>> {
    return this.#ask('hooks', file === undefined ? {} : { file }, options);
  }

  /** The workflow files of the repository. */
  workflows(options: Rest<'workflows', never> = {}): Promise<OutputOf<'workflows'>> {
    return this.#ask('workflows', {}, options);
  }

  workspaces(options: Rest<'workspaces', never> = {}): Promise<OutputOf<'workspaces'>> {
    return this.#ask('workspaces', {}, options);
  }

  /** Removes workspaces that no run needs. */
  clean(options: Rest<'clean', never> = {}): Promise<OutputOf<'clean'>> {
    return this.#ask('clean', {}, options);
  }

  /** Removes old runs; all that are chosen, where `confirm` does not say otherwise. */
  prune(options: Rest<'prune', never>): Promise<OutputOf<'prune'>> {
    return this.#ask('prune', {}, { confirm: async () => true, ...options });
  }

  merge(run?: string, options: Rest<'merge', 'run'> = {}): Promise<Merged> {
    return this.#ask('merge', named(run), options);
  }

  /** The newest runs at a glance: their strips, the tasks that need attention, what was spent by day. */
  overview(options: Rest<'overview', never> = {}): Promise<Overview> {
    return this.#ask('overview', {}, options);
  }

  /** What a merge would do; it changes nothing. */
  previewMerge(run?: string, options: Rest<'previewMerge', 'run'> = {}): Promise<MergePreview> {
    return this.#ask('previewMerge', named(run), options);
  }

  /** Undoes the last merge of a run, as long as the branch stands where that left it. */
  undoMerge(run?: string, options: Rest<'undoMerge', 'run'> = {}): Promise<MergeUndone> {
    return this.#ask('undoMerge', named(run), options);
  }

  /** A remote's repository as a new directory; `new Bosun(directory)` then works on it. */
  static clone(
    url: string,
    directory: string,
    options: Rest<'clone', 'url' | 'directory'> = {},
  ): Promise<Cloned> {
    return new Bosun(process.cwd()).#ask('clone', { url, directory }, options);
  }

  /** A run's work as a branch of a remote. */
  push(run?: string, options: Rest<'push', 'run'> = {}): Promise<Pushed> {
    return this.#ask('push', named(run), options);
  }

  /** A pull request of a run's work, or the link where a person makes it. */
  pr(run?: string, options: Rest<'pr', 'run'> = {}): Promise<PullRequest> {
    return this.#ask('pr', named(run), options);
  }

  /** A run on top of it, whose agent gets what reviewers said. */
  prFeedback(
    run?: string,
    options: Rest<'prFeedback', 'run'> = {},
  ): Promise<LiveRun & { task: string; url: string; branch: string }> {
    return this.#ask('prFeedback', named(run), { ...this.#driving, ...options });
  }

  fetch(options: Rest<'fetch', never> = {}): Promise<Fetched> {
    return this.#ask('fetch', {}, options);
  }

  /** The user's own branch, not a run's. */
  gitPush(options: Rest<'gitPush', never> = {}): Promise<PushedBranch> {
    return this.#ask('gitPush', {}, options);
  }

  /** Makes a branch where HEAD is and switches to it; without a name it tells the current one. */
  branch(name?: string): Promise<Branch> {
    return this.#ask('branch', name === undefined ? {} : { name });
  }

  /** All changes of the work tree; null where there are none. */
  commit(message: string, options: Rest<'commit', 'message'> = {}): Promise<Committed> {
    return this.#ask('commit', { message }, options);
  }

  gitStatus(options: Rest<'gitStatus', never> = {}): Promise<GitStatus> {
    return this.#ask('gitStatus', {}, options);
  }

  /** What is not committed, new files included. */
  async gitDiff(options: Omit<Rest<'gitDiff', 'stat'>, 'write'> = {}): Promise<Diff> {
    const pieces: Buffer[] = [];
    const write = (piece: Buffer): void => void pieces.push(piece);
    const changes = await this.#ask('gitDiff', {}, { ...options, write });
    return { ...changes, patch: Buffer.concat(pieces) };
  }

  /** What runs that are driven here share. */
  get #driving(): { engines: EnginePool; hooks(): readonly ProgramHook[] } {
    return { engines: this.#engines, hooks: () => this.#hooks.all };
  }

  /** What tells of the way, and what ends it, is not part of the input. */
  #ask<Name extends OperationName>(
    name: Name,
    input: Partial<InputOf<Name>>,
    options: object = {},
  ): Promise<AnswerTo<Name>> {
    const entries = Object.entries(options).filter(([, value]) => value !== undefined);
    const isTold = ([key, value]: [string, unknown]): boolean =>
      key === 'signal' || key === 'engines' || key === 'queues' || typeof value === 'function';
    const told = Object.fromEntries(entries.filter(isTold));
    const rest = Object.fromEntries(entries.filter((entry) => !isTold(entry)));
    return perform(
      name,
      { ...input, ...rest } as InputOf<Name>,
      { ...told, cwd: this.#cwd, by: this.#by } as unknown as AskedFrom<Name>,
    );
  }
}

function named(run: string | undefined): { run?: string } {
  return run === undefined ? {} : { run };
}
