/** Where operations are found over HTTP: an address for each, and who may ask for it. Words only. */
import type { InputSchema } from '../../contract/input-schema.ts';
import { PATH } from '../../contract/operation.ts';
import type { OperationName } from '../../contract/operations.ts';
import type { Role } from '../../contract/role.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

export interface HttpRoute {
  method: Method;
  /** `{repository}` is one of those that are served; other names in braces are fields of the input. */
  path: string;
  operation: OperationName;
  /** If not given: `run` where the operation changes something, else `read`. */
  role?: Role;
  /** Fields that the address says already. */
  fixed?: Readonly<Record<string, string | boolean>>;
  /** Fields that only an admin may give. */
  adminFields?: readonly string[];
  /** A directory of this machine: from the root, since whoever asks stands in none of the server's. */
  fromRoot?: string;
  /** Fields that make no sense here. */
  without?: readonly string[];
  /** Fields that are the door's own. */
  also?: InputSchema['properties'];
  /** Leaves a run to an engine process: a workflow file, an agent or a command, a run that is continued by a command. */
  starts?: 'file' | 'task' | 'execution' | readonly ['resume' | 'retry', ...string[]];
  /** Of what is started by a command: fields that stand in no command line. */
  more?: readonly string[];
  /** JSON if not given; `events` are one after another, as they come or as a page. */
  gives?: 'patch' | 'events' | 'log' | 'file';
  status?: 201 | 202;
  /** A list in pages: how many are on one, and the field that goes on behind its last. */
  page?: { by: 'after' | 'before'; limit: number };
  about: string;
}

/** What was shown of what a workflow asks for beyond its repository: `trust` covers nothing else. */
const AGREED = { type: 'array', items: { type: 'string', maxLength: 64 * 1024 }, maxItems: 1000 } as const;
const REPOSITORY = '/api/repositories/{repository}';
const RUN = `${REPOSITORY}/runs/{run}`;
const RUNTIME = '/api/agent-runtime';
const TASK = `${RUN}/tasks/{task}`;
/** What lets work reach beyond its fence, or read and write files by name. */
const BEYOND = ['trust', 'unfenced'];
/** What an engine is told on the command line alone. */
const DRIVEN = ['unfenced', 'trust', 'record', 'replay', 'timing'];

export const ROUTES: readonly HttpRoute[] = [
  {
    method: 'GET',
    path: '/api/repositories',
    operation: 'repositories',
    about: 'the repositories that are served',
  },
  {
    method: 'POST',
    path: '/api/repositories',
    operation: 'allowRepository',
    role: 'admin',
    fromRoot: 'directory',
    status: 201,
    about: 'serve a repository of this machine, too',
  },
  {
    method: 'DELETE',
    path: '/api/repositories/{repository}',
    operation: 'forgetRepository',
    role: 'admin',
    about: 'serve a repository no longer; nothing in it changes',
  },
  {
    method: 'GET',
    path: '/api/runs',
    operation: 'servedRuns',
    page: { by: 'before', limit: 50 },
    about: 'runs of all repositories, the newest first',
  },
  {
    method: 'GET',
    path: `${REPOSITORY}/runs`,
    operation: 'history',
    page: { by: 'before', limit: 50 },
    about: 'runs, the newest first',
  },
  {
    method: 'GET',
    path: `${REPOSITORY}/overview`,
    operation: 'overview',
    about: 'the newest runs at a glance, and what was spent by day',
  },
  {
    method: 'GET',
    path: `${REPOSITORY}/at-work`,
    operation: 'atWork',
    about: 'runs that are at work, those that need a person first',
  },
  {
    method: 'GET',
    path: `${REPOSITORY}/events`,
    operation: 'events',
    gives: 'events',
    without: ['run'],
    about: 'events of all runs',
  },
  {
    method: 'POST',
    path: `${REPOSITORY}/runs`,
    operation: 'queue',
    starts: 'file',
    also: { file: PATH, agreed: AGREED },
    without: ['workflow', 'source', 'key', 'fingerprint'],
    adminFields: BEYOND,
    status: 202,
    about: 'run a workflow file of the repository; bosun.yaml if none is named',
  },
  {
    method: 'POST',
    path: `${REPOSITORY}/exec`,
    operation: 'queueExec',
    starts: 'task',
    without: ['key', 'fingerprint'],
    status: 202,
    about: 'run one agent or one command, with no workflow file',
  },
  {
    method: 'POST',
    path: `${RUN}/resume`,
    operation: 'resume',
    starts: ['resume', '--', '{run}'],
    without: DRIVEN,
    status: 202,
    about: 'continue a run that was interrupted, cancelled or failed',
  },
  {
    method: 'POST',
    path: `${TASK}/retry`,
    operation: 'retry',
    starts: ['retry', '--run={run}', '--', '{task}'],
    more: ['feedback'],
    without: DRIVEN,
    status: 202,
    about: 'try a task again, and those that wait for it',
  },
  { method: 'GET', path: RUN, operation: 'status', about: 'a run and its tasks' },
  {
    method: 'GET',
    path: `${RUN}/events`,
    operation: 'events',
    gives: 'events',
    about: 'events of a run',
  },
  {
    method: 'GET',
    path: `${RUN}/log`,
    operation: 'logs',
    gives: 'log',
    about: 'events of a run or of a task, a line of JSON each',
  },
  {
    method: 'GET',
    path: `${RUN}/changes`,
    operation: 'diff',
    fixed: { stat: true },
    about: 'files that a run, a task or an attempt changed',
  },
  {
    method: 'GET',
    path: `${RUN}/patch`,
    operation: 'diff',
    gives: 'patch',
    without: ['stat'],
    about: 'what a run, a task or an attempt changed, as a patch',
  },
  {
    method: 'GET',
    path: `${RUN}/agents`,
    operation: 'agents',
    about: 'the agents of a run, and how they stand',
  },
  {
    method: 'GET',
    path: `${REPOSITORY}/totals`,
    operation: 'totals',
    about: 'what runs cost and how often they failed, by agent, runtime, model or task',
  },
  {
    method: 'GET',
    path: `${REPOSITORY}/workflows`,
    operation: 'workflows',
    about: 'the workflow files of a repository',
  },
  {
    method: 'GET',
    path: `${REPOSITORY}/forecast`,
    operation: 'forecast',
    about: 'what a run of a workflow may cost and how long it may take, by its last runs',
  },
  {
    method: 'POST',
    path: `${RUN}/push`,
    operation: 'push',
    without: ['tokenFile'],
    adminFields: ['remote'],
    about: 'push what a run did to a remote, as a branch',
  },
  {
    method: 'POST',
    path: `${RUN}/pr`,
    operation: 'pr',
    without: ['tokenFile'],
    adminFields: ['remote'],
    about: 'open a pull request of what a run did',
  },
  { method: 'GET', path: `${RUN}/report`, operation: 'report', about: 'the report of a run' },
  {
    method: 'GET',
    path: `${RUN}/messages`,
    operation: 'messages',
    about: 'what agents said to each other',
  },
  {
    method: 'GET',
    path: `${RUN}/budget`,
    operation: 'budget',
    about: 'what a run has spent and may spend',
  },
  { method: 'PUT', path: `${RUN}/budget`, operation: 'setBudget', about: 'another limit' },
  { method: 'GET', path: `${TASK}/output`, operation: 'output', about: 'what a task gave' },
  {
    method: 'GET',
    path: `${RUN}/tasks`,
    operation: 'tasks',
    page: { by: 'after', limit: 200 },
    about: 'tasks of a run, in the order in which they are shown',
  },
  {
    method: 'GET',
    path: `${TASK}/attempts`,
    operation: 'attempts',
    about: 'what was tried for a task, and what became of each attempt',
  },
  {
    method: 'GET',
    path: `${TASK}/artifacts`,
    operation: 'artifacts',
    about: 'files that an attempt of a task kept',
  },
  {
    method: 'GET',
    path: `${TASK}/artifact`,
    operation: 'artifact',
    gives: 'file',
    about: 'one of these files, to be saved and never shown',
  },
  {
    method: 'POST',
    path: `${RUN}/answer`,
    operation: 'answer',
    about: 'answer a question of a run',
  },
  { method: 'POST', path: `${RUN}/cancel`, operation: 'cancel', about: 'cancel a run; its work is kept' },
  { method: 'POST', path: `${RUN}/pause`, operation: 'pause', about: 'pause a run, or a task of it' },
  {
    method: 'POST',
    path: `${RUN}/unpause`,
    operation: 'unpause',
    about: 'continue what was paused and is still driven',
  },
  {
    method: 'POST',
    path: `${TASK}/steer`,
    operation: 'steer',
    about: 'send a message to a running agent',
  },
  {
    method: 'POST',
    path: `${RUN}/merge`,
    operation: 'merge',
    adminFields: BEYOND,
    about: 'merge what a run changed into the current branch',
  },
  {
    method: 'GET',
    path: `${RUN}/merge`,
    operation: 'previewMerge',
    about: 'what a merge would do: files, commits, conflicts',
  },
  {
    method: 'DELETE',
    path: `${RUN}/merge`,
    operation: 'undoMerge',
    about: 'undo the last merge of a run, as long as the branch stands where that left it',
  },
  {
    method: 'POST',
    path: `${REPOSITORY}/check`,
    operation: 'check',
    adminFields: BEYOND,
    about: 'check a workflow file of the repository',
  },
  {
    method: 'GET',
    path: `${REPOSITORY}/hooks`,
    operation: 'hooks',
    role: 'admin',
    about: 'hooks that runs have, in their order; of the user and of a workflow file',
  },
  {
    method: 'GET',
    path: `${REPOSITORY}/doctor`,
    operation: 'doctor',
    role: 'run',
    about: 'whether this machine is ready',
  },
  {
    method: 'GET',
    path: `${REPOSITORY}/workspaces`,
    operation: 'workspaces',
    role: 'run',
    about: 'workspaces that are there, with their sizes',
  },
  {
    method: 'DELETE',
    path: `${REPOSITORY}/workspaces`,
    operation: 'clean',
    about: 'remove workspaces that no run needs',
  },
  {
    method: 'POST',
    path: `${REPOSITORY}/prune`,
    operation: 'prune',
    role: 'admin',
    about: 'remove old runs',
  },
  {
    method: 'GET',
    path: `${REPOSITORY}/shared-budget`,
    operation: 'sharedBudgets',
    about: 'what all runs have spent and may spend today and this month',
  },
  {
    method: 'PUT',
    path: `${REPOSITORY}/shared-budget`,
    operation: 'raiseSharedBudget',
    role: 'admin',
    about: 'raise what all runs may spend today or this month',
  },
  {
    method: 'GET',
    path: `${REPOSITORY}/config`,
    operation: 'config',
    role: 'admin',
    about: 'what is configured, and where each value comes from',
  },
  { method: 'GET', path: '/api/tokens', operation: 'tokens', role: 'admin', about: 'who may come in' },
  {
    method: 'POST',
    path: '/api/tokens',
    operation: 'addToken',
    role: 'admin',
    status: 201,
    about: 'a new token, which is shown this once; for a person alone, and not for whoever has a token',
  },
  {
    method: 'DELETE',
    path: '/api/tokens/{name}',
    operation: 'revokeToken',
    role: 'admin',
    about: 'a token that nobody gets in with any more',
  },
  ...recordRoutes('workers', ['workers', 'putWorker', 'removeWorker'], 'a worker'),
  ...recordRoutes('templates', ['templates', 'putTemplate', 'removeTemplate'], 'a template'),
  ...recordRoutes('items', ['items', 'putItem', 'removeItem'], 'a work item'),
  {
    method: 'POST',
    path: `${RUNTIME}/execute`,
    operation: 'execute',
    starts: 'execution',
    without: ['key', 'fingerprint'],
    status: 202,
    about: 'have a worker do a work item, as a template says',
  },
  {
    method: 'GET',
    path: `${RUNTIME}/executions`,
    operation: 'executions',
    page: { by: 'before', limit: 100 },
    about: 'executions, the newest first',
  },
  {
    method: 'GET',
    path: `${RUNTIME}/executions/{execution}`,
    operation: 'execution',
    about: 'an execution; with its diff, logs, artifacts and metrics once it has ended',
  },
  {
    method: 'POST',
    path: `${RUNTIME}/executions/{execution}/cancel`,
    operation: 'cancelExecution',
    about: 'cancel an execution; its work is kept',
  },
  {
    method: 'GET',
    path: `${RUNTIME}/workspaces`,
    operation: 'executionWorkspaces',
    about: 'workspaces of executions that nobody has cleaned up',
  },
  {
    method: 'DELETE',
    path: `${RUNTIME}/workspaces/{execution}`,
    operation: 'cleanExecution',
    about: 'clean up after an execution that has ended; its snapshot stays',
  },
];

function recordRoutes(
  name: string,
  [list, put, remove]: readonly [OperationName, OperationName, OperationName],
  what: string,
): HttpRoute[] {
  // A worker may be a command of this machine.
  const role = name === 'workers' ? ({ role: 'admin' } as const) : {};
  return [
    {
      method: 'GET',
      path: `/api/${name}`,
      operation: list,
      page: { by: 'after', limit: 100 },
      about: `all ${name}`,
    },
    { method: 'PUT', path: `/api/${name}/{id}`, operation: put, ...role, about: `write down ${what}` },
    {
      method: 'DELETE',
      path: `/api/${name}/{id}`,
      operation: remove,
      role: 'admin',
      about: `remove ${what}`,
    },
  ];
}

/** What no address has, each with its reason. */
export const NOT_SERVED: Partial<Record<OperationName, string>> = {
  run: 'a run is left to an engine process: see queue',
  start: 'see queue',
  initMcp: 'it writes the settings of programs of the user',
  exec: 'see run',
  work: 'the server sees to it',
  spawnAgent: 'exec starts one; a child of a task is for its agent, or for a person here',
  open: 'what it opens is a port of this machine',
  setConfig: 'what a user wants of all runs is for that user to say',
  unsetConfig: 'see setConfig',
  prFeedback: 'it drives a run in the process that asks',
  clone: 'what is served is allowed by name: see allowRepository',
  fetch: 'the work tree and its branches belong to whoever works there',
  gitPush: 'see fetch',
  branch: 'see fetch',
  commit: 'see fetch',
  gitStatus: 'see fetch',
  gitDiff: 'see fetch',
  attach: 'events are followed at their own address',
  wait: 'events are followed at their own address',
  reportPage: 'a file of this machine: the report is there as JSON',
  init: 'it writes into the work tree, where a person writes',
  asked: 'a refusal says it',
  trust: 'what a repository may reach is for the user of this machine to say',
  trusted: 'see trust',
  distrust: 'see trust',
  conformance: 'it is about a program of this machine, and takes minutes',
  modelServer: 'it is a server of its own',
};
