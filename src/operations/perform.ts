/**
 * The one way from a door to an operation: holds what was handed in against the table, finds the function, and says
 * who asks. It does nothing itself. Functions are loaded when they are asked for: most commands need only one.
 */
import { spellActor, type Actor } from '../contract/actor.ts';
import { BosunError } from '../contract/errors.ts';
import type { Recorded } from '../contract/event.ts';
import {
  ERRORS_OF_ALL,
  OPERATIONS,
  type Asked,
  type Asking,
  type InputOf,
  type OperationName,
  type OutputOf,
} from '../contract/operations.ts';
import type { Operation } from '../contract/operation.ts';
import type { ReadTo } from '../contract/outputs.ts';
import type { QuestionView } from '../contract/run.ts';
import type { AnswerOptions } from './answer.ts';
import type { AttachOptions } from './attach.ts';
import { checkInput } from './check-input.ts';
import type { ConformanceOptions } from './conformance/conformance.ts';
import type { FollowEventsOptions } from './events.ts';
import type { ExecOptions } from './exec.ts';
import type { FeedbackOptions } from './feedback.ts';
import type { ExecuteOptions } from './execute.ts';
import type { CancelOptions } from './interrupt.ts';
import type { MergeOptions, UndoOptions } from './merge.ts';
import type { LoggedRequest } from './model-server.ts';
import type { PruneOptions } from './prune.ts';
import type { PullRequestOptions } from './pull-request.ts';
import type { PushOptions } from './push.ts';
import type { ReachOptions } from './reach-remote.ts';
import type { QueueOptions } from './queue.ts';
import type { SpawnOptions } from './spawn-agent.ts';
import type { TrustOptions } from './trust.ts';
import type { WaitOptions } from './wait.ts';
import type { WorkOptions } from './work.ts';
import type { ResumeOptions, RetryOptions, StartOptions } from './run.ts';

/** What does the work: a function for each row of the table. */
const FUNCTIONS = {
  run: async (asked: StartOptions) => (await import('./run.ts')).startRun(asked),
  exec: async (asked: ExecOptions) => (await import('./exec.ts')).execTask(asked),
  spawnAgent: async (asked: SpawnOptions) => (await import('./spawn-agent.ts')).spawnAgent(asked),
  agents: async (asked: Asked<'agents'>) => (await import('./agents.ts')).agentsOf(asked),
  queue: async (asked: QueueOptions<'queue'>) => (await import('./queue.ts')).queueRun(asked),
  queueExec: async (asked: QueueOptions<'queueExec'> & TrustOptions) =>
    (await import('./queue.ts')).queueExec(asked),
  work: async (asked: WorkOptions) => (await import('./work.ts')).workOnQueue(asked),
  start: async (asked: Asked<'start'>) => (await import('./apart/start.ts')).startApart(asked),
  resume: async (asked: ResumeOptions) => (await import('./run.ts')).resumeRun(asked),
  retry: async (asked: RetryOptions) => (await import('./run.ts')).retryTask(asked),
  pause: async (asked: Asked<'pause'>) => (await import('./pause.ts')).askToPause(asked),
  unpause: async (asked: Asked<'unpause'>) => (await import('./pause.ts')).askToContinue(asked),
  cancel: async (asked: CancelOptions) => (await import('./interrupt.ts')).cancelRun(asked),
  answer: async (asked: AnswerOptions) => (await import('./answer.ts')).answerQuestion(asked),
  steer: async (asked: Asked<'steer'>) => (await import('./interrupt.ts')).steerTask(asked),
  setBudget: async (asked: Asked<'setBudget'>) => (await import('./budget.ts')).setBudget(asked),
  sharedBudgets: async ({ cwd }: Asked<'sharedBudgets'>) =>
    (await import('./shared-budget.ts')).sharedBudgetsOf(cwd),
  raiseSharedBudget: async (asked: Asked<'raiseSharedBudget'>) =>
    (await import('./shared-budget.ts')).raiseSharedBudget(asked),
  merge: async (asked: Asked<'merge'> & MergeOptions) => (await import('./merge.ts')).mergeRun(asked),
  previewMerge: async (asked: Asked<'previewMerge'>) => (await import('./merge.ts')).previewMerge(asked),
  undoMerge: async (asked: Asked<'undoMerge'> & UndoOptions) => (await import('./merge.ts')).undoMerge(asked),
  status: async (asked: Asked<'status'>) => (await import('./status.ts')).statusOf(asked),
  atWork: async (asked: Asked<'atWork'>) => (await import('./status.ts')).runsAtWork(asked),
  history: async (asked: Asked<'history'>) => (await import('./status.ts')).history(asked),
  overview: async (asked: Asked<'overview'>) => (await import('./overview.ts')).overviewOf(asked),
  totals: async (asked: Asked<'totals'>) => (await import('./totals.ts')).totalsOf(asked),
  forecast: async (asked: Asked<'forecast'>) => (await import('./forecast.ts')).forecastOf(asked),
  logs: async ({ seen, ...asked }: Asked<'logs'> & { seen(events: Recorded[]): void }) => {
    const pages = (await import('./logs.ts')).logs(asked);
    try {
      let next = await pages.next();
      for (; !next.done; next = await pages.next()) seen(next.value);
      return next.value;
    } finally {
      await pages.return(undefined as never); // who is told may throw
    }
  },
  events: async (asked: FollowEventsOptions) => (await import('./events.ts')).followEvents(asked),
  attach: async (asked: AttachOptions) => (await import('./attach.ts')).attachRun(asked),
  wait: async (asked: WaitOptions) => (await import('./wait.ts')).waitForRuns(asked),
  budget: async (asked: Asked<'budget'>) => (await import('./budget.ts')).budgetsOf(asked),
  diff: async ({
    write,
    ...asked
  }: Asked<'diff'> & {
    write(piece: Buffer): Promise<void> | void;
    /** Is told the commits that are compared, before the patch comes. */
    range?(from: string, to: string): void;
  }) => {
    const { changesOf, streamDiff } = await import('./changes.ts');
    return asked.stat ? changesOf(asked) : streamDiff(asked, write);
  },
  report: async (asked: Asked<'report'>) => (await import('./report.ts')).reportOf(asked),
  messages: async (asked: Asked<'messages'>) => (await import('./messages.ts')).messagesOf(asked),
  reportPage: async (asked: Asked<'reportPage'>) => (await import('./report.ts')).reportPage(asked),
  output: async (asked: Asked<'output'>) => (await import('./output.ts')).readOutput(asked),
  tasks: async (asked: Asked<'tasks'>) => (await import('./tasks.ts')).tasksOf(asked),
  attempts: async (asked: Asked<'attempts'>) => (await import('./tasks.ts')).attemptsOf(asked),
  artifacts: async (asked: Asked<'artifacts'>) => (await import('./artifacts.ts')).artifactsOf(asked),
  artifact: async (asked: Asked<'artifact'> & { write(piece: Buffer): Promise<void> | void }) =>
    (await import('./artifacts.ts')).streamArtifact(asked),
  open: async (asked: Asked<'open'>) => (await import('./open.ts')).openService(asked),
  check: async (asked: Asked<'check'>) => (await import('./check.ts')).checkFile(asked),
  workflows: async (asked: Asked<'workflows'>) => (await import('./workflow-files.ts')).workflowFiles(asked),
  init: async (asked: Asked<'init'>) => (await import('./init.ts')).initialise(asked),
  initMcp: async (asked: Asked<'initMcp'>) => (await import('./init-mcp/init-mcp.ts')).initMcp(asked),
  doctor: async (asked: Asked<'doctor'>) => (await import('./doctor/diagnose.ts')).diagnose(asked),
  config: async (asked: Asked<'config'>) => (await import('./config.ts')).configurationOf(asked),
  setConfig: async (asked: Asked<'setConfig'>) => (await import('./config.ts')).setConfig(asked),
  unsetConfig: async (asked: Asked<'unsetConfig'>) => (await import('./config.ts')).unsetConfig(asked),
  asked: async (asked: Asked<'asked'>) => (await import('./asked-by.ts')).askedBy(asked),
  trust: async (asked: Asked<'trust'>) => (await import('./trust.ts')).trust(asked),
  trusted: async ({ signal }: Asked<'trusted'>) => {
    const { listTrusted } = await import('./trust.ts');
    signal?.throwIfAborted();
    return listTrusted();
  },
  distrust: async (asked: Asked<'distrust'>) => (await import('./trust.ts')).distrust(asked),
  hooks: async (asked: Asked<'hooks'>) => (await import('./hooks.ts')).hooksInForce(asked),
  workspaces: async (asked: Asked<'workspaces'>) => (await import('./workspaces.ts')).workspaces(asked),
  clean: async (asked: Asked<'clean'>) => (await import('./clean.ts')).cleanWorkspaces(asked),
  prune: async (asked: Asked<'prune'> & PruneOptions) =>
    (await (await import('./prune.ts')).prune(asked)) ?? null,
  conformance: async (asked: Asked<'conformance'> & ConformanceOptions) =>
    (await import('./conformance/conformance.ts')).testConformance(asked),
  modelServer: async (asked: Asked<'modelServer'> & { onRequest?(request: LoggedRequest): void }) =>
    (await import('./model-server.ts')).openModelServer(asked),
  push: async (asked: PushOptions) => (await import('./push.ts')).pushRun(asked),
  pr: async (asked: PullRequestOptions) => (await import('./pull-request.ts')).makePullRequest(asked),
  prFeedback: async (asked: FeedbackOptions) => (await import('./feedback.ts')).runFeedback(asked),
  clone: async (asked: Asked<'clone'> & ReachOptions) => (await import('./clone.ts')).clone(asked),
  fetch: async (asked: Asked<'fetch'> & ReachOptions) => (await import('./fetch.ts')).fetchBranches(asked),
  gitPush: async (asked: Asked<'gitPush'> & ReachOptions) => (await import('./fetch.ts')).pushBranch(asked),
  branch: async (asked: Asked<'branch'>) => (await import('./own-git.ts')).branch(asked),
  commit: async (asked: Asked<'commit'>) => (await import('./own-git.ts')).commit(asked),
  gitStatus: async (asked: Asked<'gitStatus'>) => (await import('./own-git.ts')).gitStatus(asked),
  gitDiff: async (asked: Asked<'gitDiff'> & { write(piece: Buffer): Promise<void> | void }) =>
    (await import('./own-git.ts')).gitDiff(asked),
  repositories: async ({ signal }: Asked<'repositories'>) => {
    const { listRepositories } = await import('./repositories.ts');
    signal?.throwIfAborted();
    return listRepositories();
  },
  servedRuns: async (asked: Asked<'servedRuns'>) => (await import('./served-runs.ts')).servedRuns(asked),
  allowRepository: async (asked: Asked<'allowRepository'>) =>
    (await import('./repositories.ts')).allowRepository(asked),
  forgetRepository: async (asked: Asked<'forgetRepository'>) =>
    (await import('./repositories.ts')).forgetRepository(asked),
  tokens: async ({ signal }: Asked<'tokens'>) => {
    const { listTokens } = await import('./tokens.ts');
    signal?.throwIfAborted();
    return listTokens();
  },
  addToken: async (asked: Asked<'addToken'>) => (await import('./tokens.ts')).addToken(asked),
  revokeToken: async (asked: Asked<'revokeToken'>) => (await import('./tokens.ts')).revokeToken(asked),
  workers: async (asked: Asked<'workers'>) => (await import('./records.ts')).listWorkers(asked),
  putWorker: async (asked: Asked<'putWorker'>) => (await import('./records.ts')).putWorker(asked),
  removeWorker: async ({ id }: Asked<'removeWorker'>) =>
    (await import('./records.ts')).removeRecord('worker', id),
  templates: async (asked: Asked<'templates'>) => (await import('./records.ts')).listTemplates(asked),
  putTemplate: async (asked: Asked<'putTemplate'>) => (await import('./records.ts')).putTemplate(asked),
  removeTemplate: async ({ id }: Asked<'removeTemplate'>) =>
    (await import('./records.ts')).removeRecord('template', id),
  items: async (asked: Asked<'items'>) => (await import('./records.ts')).listItems(asked),
  putItem: async (asked: Asked<'putItem'>) => (await import('./records.ts')).putItem(asked),
  removeItem: async ({ id }: Asked<'removeItem'>) => (await import('./records.ts')).removeRecord('item', id),
  execute: async (asked: ExecuteOptions) => (await import('./execute.ts')).execute(asked),
  executions: async (asked: Asked<'executions'>) => (await import('./executions.ts')).listExecutions(asked),
  execution: async (asked: Asked<'execution'>) => (await import('./executions.ts')).executionOf(asked),
  cancelExecution: async (asked: Asked<'cancelExecution'>) =>
    (await import('./executions.ts')).cancelExecution(asked),
  executionWorkspaces: async (asked: Asked<'executionWorkspaces'>) =>
    (await import('./executions.ts')).listExecutionWorkspaces(asked),
  cleanExecution: async (asked: Asked<'cleanExecution'>) =>
    (await import('./executions.ts')).cleanExecution(asked),
} satisfies { [Name in OperationName]: (asked: never) => Promise<OutputOf<Name>> };

type Functions = typeof FUNCTIONS;

/** What a door hands in besides the input: where, who, until when, and whom to tell meanwhile. */
export type AskedFrom<Name extends OperationName> = Omit<
  Parameters<Functions[Name]>[0],
  keyof InputOf<Name> | 'by'
> & { by: Actor };

export type AnswerTo<Name extends OperationName> = Awaited<ReturnType<Functions[Name]>>;

/** Rejects with `usage` where the input is not as the table says. */
export async function perform<Name extends OperationName>(
  name: Name,
  input: InputOf<Name>,
  around: AskedFrom<Name>,
): Promise<AnswerTo<Name>> {
  const { by, ...rest }: { by: Actor; signal?: AbortSignal } = around;
  const asked = { ...rest, ...checked(name, input, by), by: spellActor(by) };
  rest.signal?.throwIfAborted();
  const act = FUNCTIONS[name] as unknown as (asked: Asking) => Promise<AnswerTo<Name>>;
  return process.env.BOSUN_CHECK_OUTPUT === '1'
    ? checkedOutput(name, () => act(asked as Asking))
    : act(asked as Asking);
}

/** The events of `logs`, for a program that takes them one page after another. */
export async function* followLogs(
  input: InputOf<'logs'>,
  { by, ...around }: Omit<AskedFrom<'logs'>, 'seen'>,
): AsyncGenerator<Recorded[], ReadTo> {
  const asked = { ...around, ...checked('logs', input, by) };
  const { logs } = await import('./logs.ts');
  return yield* logs(asked);
}

/** Which question `answer` would answer, for a door that puts it to a person first. */
export async function questionMeant(
  input: Pick<InputOf<'answer'>, 'run' | 'question'>,
  { by, cwd }: Pick<AskedFrom<'answer'>, 'by' | 'cwd'>,
): Promise<{ run: string; question: QuestionView }> {
  const { run, question } = checked('answer', input, by);
  const meant = await import('./answer.ts');
  return meant.questionMeant({
    cwd,
    ...(run !== undefined && { run }),
    ...(question !== undefined && { question }),
  });
}

function checked<Name extends OperationName>(name: Name, input: InputOf<Name>, by: Actor): InputOf<Name> {
  const { actors }: Operation = OPERATIONS[name];
  if (!actors.includes(by.kind))
    throw new BosunError('not-trusted', `${name} is not for ${by.kind}s: ask a person`);
  return checkInput(name, input);
}

/** For tests: what comes out is as the table says, be it an answer or an error. */
async function checkedOutput<T>(name: OperationName, act: () => Promise<T>): Promise<T> {
  const { output, errors }: Operation = OPERATIONS[name];
  let answer: T;
  try {
    answer = await act();
  } catch (error) {
    if (error instanceof BosunError && ![...ERRORS_OF_ALL, ...errors].includes(error.code))
      throw new Error(`the table does not say that ${name} may end with ${error.code}`, { cause: error });
    throw error;
  }
  const outputs = await import('../contract/outputs.ts');
  const { error } = outputs[output].safeParse(answer);
  if (error) throw new Error(`${name} does not give what the table says: ${error.message}`);
  return answer;
}
