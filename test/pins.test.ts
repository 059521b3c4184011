/** What programs rely on by name: a change here is a change for them, so it is made on purpose. */
import { describe, expect, it } from 'vitest';
import { ERRORS } from '../src/contract/errors.ts';
import type { Operation } from '../src/contract/operation.ts';
import { OPERATION_NAMES, OPERATIONS } from '../src/contract/operations.ts';
import * as api from '../src/index.ts';

const LIBRARY = `addHook
agents
allEvents
answer
artifact
artifacts
atWork
attach
attempts
branch
budget
cancel
check
clean
close
commit
config
constructor
diff
doctor
events
exec
fetch
forecast
gitDiff
gitPush
gitStatus
history
hooks
merge
messages
open
output
overview
pause
pr
prFeedback
previewMerge
prune
push
questions
queue
queueExec
removeHook
report
resume
retry
run
setBudget
sharedBudgets
spawnAgent
start
status
steer
tasks
totals
undoMerge
unpause
wait
watch
work
workflows
workspaces
`;

describe('names that programs rely on', () => {
  it('are the exports of the package', () => {
    expect(Object.keys(api).toSorted()).toEqual([
      'Bosun',
      'BosunError',
      'agent',
      'loadWorkflow',
      'startModelServer',
      'workflow',
    ]);
  });

  it('are the methods of the library', () => {
    const methods = Object.getOwnPropertyNames(api.Bosun.prototype).toSorted();
    // One line each: several people add some at once.
    expect(`${methods.join('\n')}\n`).toBe(LIBRARY);
  });

  it('are the codes of errors, with what they mean at every door', () => {
    expect(Object.entries(ERRORS).map(([code, { exit, http, rpc }]) => [code, exit, http, rpc])).toEqual([
      ['usage', 2, 400, -32602],
      ['invalid-workflow', 2, 422, -32001],
      ['not-supported', 2, 501, -32002],
      ['no-repository', 2, 409, -32003],
      ['not-found', 2, 404, -32004],
      ['busy', 2, 409, -32005],
      ['wrong-state', 2, 409, -32006],
      ['not-trusted', 2, 403, -32010],
      ['conflict', 1, 409, -32007],
      ['check', 1, 409, -32011],
      ['auth', 1, 502, -32012],
      ['network', 1, 504, -32013],
      ['rejected', 1, 409, -32014],
      ['journal', 1, 500, -32008],
      ['system', 1, 500, -32009],
    ]);
  });

  it('are the operations: what each takes, gives, streams to whom, who may ask, and whether it changes something', () => {
    const rows = OPERATION_NAMES.map((name) => {
      const { input, output, streams, actors, changes }: Operation = OPERATIONS[name];
      const needs = new Set(input.required);
      const fields = Object.keys(input.properties).map((field) => (needs.has(field) ? `${field}!` : field));
      const flow = streams ? ` ${streams.to}(${streams.items})…` : '';
      const who = actors.length === 3 ? 'anybody' : actors.join(', ');
      return `${name}(${fields.join(' ')})${flow} → ${output}, by ${who}${changes ? ', changes' : ''}`;
    });
    expect(rows).toEqual([
      'run(workflow! source! inputs dirty usd overBudget unfenced trust record replay timing) seen(Events)… → StartedRun, by person, program, changes',
      'queue(workflow! source! inputs dirty usd trust key fingerprint) → QueuedRun, by person, program, changes',
      'queueExec(prompt argv runtime command model check attempts timeout dirty usd key fingerprint) → QueuedTask, by person, program, changes',
      'work(atOnce stay) told(WorkedOn)… → Worked, by person, program, changes',
      'spawnAgent(parent role prompt! name runtime model write check usd tokens queue trust) seen(Events)… → Spawned, by person, program, changes',
      'exec(prompt argv runtime command model check attempts timeout dirty usd overBudget unfenced trust record replay timing) seen(Events)… → StartedTask, by person, program, changes',
      'resume(run unfenced trust record replay timing) seen(Events)… → StartedRun, by person, program, changes',
      'retry(run task! feedback unfenced trust record replay timing) seen(Events)… → StartedRun, by person, program, changes',
      'pause(run name) → Paused, by person, program, changes',
      'unpause(run name) → Unpaused, by person, program, changes',
      'cancel(run task now) waits(text)… → Run, by person, program, changes',
      'answer(run question answer chosen note askedAtMs) → Answered, by person, program, changes',
      'steer(run task! text!) → Steered, by person, program, changes',
      'setBudget(run agent task usd tokens requests minutes) → BudgetSet, by person, program, changes',
      'sharedBudgets() → SharedBudgets, by anybody',
      'raiseSharedBudget(usdPerDay usdPerMonth) → SharedBudgets, by person, program, changes',
      'merge(run squash head onto unfenced trust) printed(text)… → Merged, by person, program, changes',
      'undoMerge(run) → MergeUndone, by person, program, changes',
      'status(run limit) → Status, by anybody',
      'atWork(queued) → ShownRuns, by anybody',
      'agents(run) → Agents, by anybody',
      'history(limit since state before) → ShownRuns, by anybody',
      'overview(limit runs) → Overview, by anybody',
      'totals(per! since) → Totals, by anybody',
      'forecast(workflow!) → Forecast, by anybody',
      'logs(run task afterSeq withoutOutput types follow) seen(Events)… → ReadTo, by anybody',
      'attach(run past) seen(Events)… → AttachedRun, by person, program',
      'wait(runs) needsPerson(Run)… → Runs, by anybody',
      'budget(run) → Budgets, by anybody',
      'diff(run task attempt outside wanted path stat) write(bytes)… → Changes, by anybody',
      'previewMerge(run squash) → MergePreview, by anybody',
      'report(run written) → Report, by anybody',
      'messages(run) → Messages, by anybody',
      'reportPage(run) → File, by person, program',
      'open(run service! tcp) → Opened, by person, program',
      'output(run task!) → Given, by anybody',
      'tasks(run state limit after) → ShownTasks, by anybody',
      'attempts(run task!) → ShownAttempts, by anybody',
      'artifacts(run task! attempt) → Artifacts, by anybody',
      'artifact(run task! attempt path!) write(bytes)… → Artifact, by anybody',
      'start(file workflow inputs prompt runtime command model check attempts timeout resume dirty usd overBudget unfenced trust key) → Started, by person, program, changes',
      'check(file trust) → Checked, by person, program',
      'workflows() → WorkflowFiles, by person, program',
      'init(template agent command check) → Initialised, by person, program, changes',
      'initMcp(clients user) → McpEntries, by person, changes',
      'doctor() → Findings, by anybody',
      'config(key) → Configuration, by person, program',
      'setConfig(key! value! repository) → ConfigSet, by person, changes',
      'unsetConfig(key! repository) → ConfigUnset, by person, changes',
      'asked(file trust) → AskedFor, by person, program',
      'trust(asked everything) → Directory, by person, changes',
      'trusted() → TrustedRepositories, by person, program',
      'distrust(repository) → Directory, by person, changes',
      'hooks(file trust) → Hooks, by person, program',
      'workspaces() → WorkspaceList, by anybody',
      'clean() → Cleaned, by person, program, changes',
      'prune(olderThanMs keep maxBytes interrupted unmerged) → Pruned, by person, program, changes',
      'conformance(runtime! command only) onRow(Verdict)… → Conformance, by person, program',
      'modelServer(file! port) onRequest(ServerRequest)… → Server, by person, program',
      'push(run remote tokenFile branch) → Pushed, by person, program, changes',
      'pr(run remote tokenFile branch base title draft) → PullRequest, by person, program, changes',
      'prFeedback(run remote branch task usd unfenced trust) seen(Events)… → FeedbackRun, by person, program, changes',
      'clone(url! directory depth branch tokenFile) → Cloned, by person, program, changes',
      'fetch(remote tokenFile branch) → Fetched, by person, program, changes',
      'gitPush(remote tokenFile branch) → PushedBranch, by person, program, changes',
      'branch(name) → Branch, by person, program, changes',
      'commit(message!) → Committed, by person, program, changes',
      'gitStatus() → GitStatus, by anybody',
      'gitDiff(stat) write(bytes)… → Changes, by anybody',
      'events(run after fromNow withoutOutput limit follow) seen(FollowedEvents)… → ReadUpTo, by person, program',
      'repositories() → ServedRepositories, by person, program',
      'servedRuns(limit since state before) → ServedRuns, by person, program',
      'allowRepository(directory) → ServedRepository, by person, program, changes',
      'forgetRepository(repository!) → ServedRepository, by person, program, changes',
      'tokens() → AccessTokens, by person',
      'addToken(name! role! expires) → NewToken, by person, changes',
      'revokeToken(name!) → AccessToken, by person, changes',
      'workers(limit after) → Workers, by person, program',
      'putWorker(id! name! runtime model command offline) → Worker, by person, program, changes',
      'removeWorker(id!) → Worker, by person, program, changes',
      'templates(limit after) → Templates, by person, program',
      'putTemplate(id! name! prompt! check) → Template, by person, program, changes',
      'removeTemplate(id!) → Template, by person, program, changes',
      'items(limit after) → WorkItems, by person, program',
      'putItem(id! title! text!) → WorkItem, by person, program, changes',
      'removeItem(id!) → WorkItem, by person, program, changes',
      'execute(workerId! workItemId! templateId! repositoryId! workspaceId key fingerprint) → ExecutionFacts, by person, program, changes',
      'executions(limit repositoryId workerId status before) → Executions, by person, program',
      'execution(execution!) → Execution, by person, program',
      'cancelExecution(execution!) → ExecutionFacts, by person, program, changes',
      'executionWorkspaces(limit) → ExecutionWorkspaces, by person, program',
      'cleanExecution(execution!) → ExecutionWorkspace, by person, program, changes',
    ]);
  });
});
