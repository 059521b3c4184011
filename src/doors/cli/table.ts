/** The commands of the CLI, in the order in which help lists them. Words only: what they do is in their files. */
import { examples, options, usages } from '../../crew/tools.ts';
import { wordList } from '../../base/word-list.ts';
import { MODEL_RUNTIMES, RUNTIME_DEFAULT, RUNTIMES } from '../../contract/runtimes.ts';
import type { Command } from './command.ts';
import { CONFIG, INIT } from './table-beginning.ts';
import { DISK_COMMANDS } from './table-disk.ts';
import { MCP_COMMANDS } from './table-mcp.ts';
import { HOOKS_COMMAND } from './table-hooks.ts';
import { LOOK_COMMANDS } from './table-look.ts';
import { REMOTE_COMMANDS } from './table-remotes.ts';
import { WORK } from './table-queue.ts';
import { RECORD_COMMANDS } from './table-records.ts';
import { SERVE_COMMANDS } from './table-serve.ts';
import {
  RUN_ARGUMENT,
  RUN_OR_TASK,
  ON_RUN_OPTION,
  DETACH,
  QUEUE,
  JSON_EVENTS,
  VERBOSE,
  DIRTY,
  USD_OPTION,
  UNFENCED,
  TRUST,
  CASSETTE,
} from './table-options.ts';

/** Of a run. */
const LIMITS = ['--usd', '--tokens', '--requests', '--minutes'] as const;

export const COMMANDS: Command[] = [
  INIT,
  {
    name: 'doctor',
    group: 'Start',
    summary: 'check that this machine is ready',
    asks: ['doctor'],
    options: [{ flags: '--json', about: 'print the findings as JSON' }],
    examples: [['doctor', 'what works here, what does not, and how to fix it']],
    load: () => import('./commands/doctor.ts'),
  },
  CONFIG,
  {
    name: 'check',
    group: 'Start',
    summary: 'check a workflow file without running anything',
    asks: ['check', 'forecast', 'workflows'],
    arguments: [{ name: 'file', about: 'defaults to bosun.yaml', complete: 'file' }],
    options: [
      TRUST,
      { flags: '-l, --list', about: 'list the workflow files of the repository', not: ['--trust'] },
    ],
    examples: [
      ['check', 'the bosun.yaml of this repository'],
      ['check release.yaml', 'another file'],
      ['check --list', 'which workflow files there are'],
    ],
    notes: 'Where the workflow has run before, it also says what a run cost and how long it took.',
    load: () => import('./commands/check.ts'),
  },
  {
    name: 'run',
    group: 'Start',
    summary: 'run a workflow; your files stay as they are until you merge',
    asks: ['check', 'run', 'queue'],
    arguments: [{ name: 'file', about: 'defaults to bosun.yaml', complete: 'file' }],
    options: [
      { flags: '-i, --input <name=value>', about: 'an input of the workflow; may be repeated', repeat: true },
      USD_OPTION,
      DIRTY,
      DETACH,
      QUEUE,
      UNFENCED,
      TRUST,
      { flags: '-n, --dry-run', about: 'show the tasks and start nothing' },
      ...CASSETTE,
      VERBOSE,
      JSON_EVENTS,
    ],
    examples: [
      ['run', 'the bosun.yaml of this repository'],
      ['run release.yaml --input version=1.2.0', 'another file, with an input'],
      ['run --detach', 'in the background; watch it with: bosun attach'],
      ['run --json > events.ndjson', 'for a program'],
    ],
    notes:
      'Ctrl-C once stops gracefully and keeps the work, twice stops now. A detached run survives the terminal.',
    load: () => import('./commands/run.ts'),
  },
  {
    name: 'exec',
    group: 'Start',
    summary: 'run one agent or one command, with no workflow file',
    asks: ['exec', 'queueExec', 'spawnAgent', 'output'],
    arguments: [{ name: 'words', about: 'the prompt for the agent, or a command after --', many: true }],
    options: [
      { flags: '--runtime <runtime>', about: wordList(RUNTIMES, 'or') },
      {
        flags: '--command <command>',
        about: 'cli: the command to start (prompt on stdin); acp: the agent to start',
      },
      {
        flags: '--parent <run/task>',
        about: 'start it as a child of this task; if that is done, on the files it left',
      },
      { flags: '--agent <agent>', about: "an agent of the parent's workflow, or of .bosun/agents" },
      { flags: '--name <name>', about: 'with --parent, what to call the child', needs: ['--parent'] },
      { flags: '--check <command>', about: 'a command that must pass; failures go back to the agent' },
      {
        flags: '--attempts <count>',
        about: 'how many times the agent may try to pass the check',
        needs: ['--check'],
      },
      { flags: '--timeout <duration>', about: 'such as 30s or 10m' },
      { flags: '--model <model>', about: 'such as claude-sonnet-4-5, or provider/model' },
      USD_OPTION,
      DIRTY,
      DETACH,
      QUEUE,
      UNFENCED,
      ...CASSETTE,
      JSON_EVENTS,
    ],
    examples: [
      ['exec -- npm run lint -- --fix', 'a plain command, in a workspace of its own'],
      ['exec --runtime claude-code --usd 2 "Fix the typos"', 'Claude Code; stops and asks after two dollars'],
      ['exec --runtime cli --command "my-agent" "Fix the typos"', 'an agent that is a command'],
      [
        'exec --command "my-agent" --check "npm test" --attempts 3 "Make the tests pass"',
        'until the check passes',
      ],
      [
        'exec --parent fix-3/implement --agent tester "Test it"',
        'a child of a task at work, or of one that is done',
      ],
      ['exec --queue --agent tester "Test it"', 'queued now, run by the next bosun work'],
    ],
    load: () => import('./commands/exec.ts'),
  },
  WORK,
  {
    name: 'trust',
    group: 'Start',
    summary: 'let the workflows of this repository reach beyond it',
    asks: ['asked', 'trust', 'trusted', 'distrust'],
    arguments: [
      { name: 'file', about: 'defaults to bosun.yaml; with --remove, a repository', complete: 'file' },
    ],
    options: [
      {
        flags: '--all',
        about: 'whatever this repository asks for behind fences, now and later',
        not: ['--list', '--remove'],
      },
      { flags: '--list', about: 'show what you trust', not: ['--remove'] },
      { flags: '--remove', about: 'stop trusting this repository' },
      {
        flags: '--json',
        about: 'with --list, print each repository as a line of JSON',
        needs: ['--list'],
      },
    ],
    examples: [
      ['trust', 'show what bosun.yaml asks for, and agree to it'],
      ['trust --list', 'what you agreed to, by repository'],
      ['trust --remove', 'be asked again'],
    ],
    load: () => import('./commands/trust.ts'),
  },
  HOOKS_COMMAND,
  ...LOOK_COMMANDS,
  {
    name: 'answer',
    group: 'Decide',
    summary: 'answer a question that a run is waiting on',
    asks: ['answer'],
    arguments: [
      {
        name: 'words',
        about:
          '[question] <answer>: yes, no, the number or words of a choice, or text in quotes; leave out the question if only one is open, and the answer to be asked for it',
        many: true,
      },
    ],
    options: [ON_RUN_OPTION, { flags: '--note <text>', about: 'why; kept with the answer' }],
    examples: [
      ['answer yes', 'the only open question of the latest run'],
      ['answer ship no --note "not on a Friday"', 'the question of task ship'],
      ['answer implement 2', 'the second of its choices; "1,3" where several can be chosen'],
      ['answer implement "use zod"', 'a question that takes text'],
      ['answer', 'show the question and ask for the answer, in a terminal'],
    ],
    load: () => import('./commands/answer.ts'),
  },
  {
    name: 'budget',
    group: 'Decide',
    summary: 'show what a run has spent and may spend, or raise its limits',
    asks: ['budget', 'setBudget', 'raiseSharedBudget', 'sharedBudgets'],
    arguments: [RUN_ARGUMENT],
    options: [
      { flags: '--usd <dollars>', about: 'the new limit in dollars' },
      { flags: '--tokens <count>', about: 'the new limit in tokens' },
      { flags: '--requests <count>', about: 'the new limit in model requests' },
      { flags: '--minutes <count>', about: 'the new limit in minutes of work' },
      { flags: '--shared', about: 'show what all runs may spend today and this month', not: LIMITS },
      { flags: '--usd-per-day <dollars>', about: 'raise what all runs may spend today' },
      { flags: '--usd-per-month <dollars>', about: 'raise what all runs may spend this month' },
      {
        flags: '--agent <agent>',
        about: 'limit this agent, not the whole run',
        needs: LIMITS,
        not: ['--task'],
      },
      { flags: '-t, --task <task>', about: 'limit this task and the tasks within it', needs: LIMITS },
      { flags: '--json', about: 'print it as JSON' },
    ],
    examples: [
      ['budget', 'of the latest run'],
      ['budget --usd 10', 'ten dollars in all; a waiting run continues at once'],
      ['budget --agent developer --tokens 500000', 'of one agent'],
    ],
    load: () => import('./commands/budget.ts'),
  },
  {
    name: 'steer',
    group: 'Decide',
    summary: 'send a message to a running agent',
    asks: ['steer'],
    arguments: [
      { name: 'task', about: 'the task whose agent to message', required: true, complete: 'task' },
      { name: 'words', about: 'the message', required: true, many: true },
    ],
    options: [ON_RUN_OPTION],
    examples: [
      ['steer implement "Use the parser that is there"', 'the agent gets it at its next turn, or sooner'],
    ],
    load: () => import('./commands/steer.ts'),
  },
  {
    name: 'merge',
    group: 'Decide',
    summary: 'merge what a run changed into your current branch',
    asks: ['merge', 'previewMerge', 'undoMerge'],
    arguments: [RUN_ARGUMENT],
    options: [
      { flags: '--squash', about: 'make one commit of it all' },
      {
        flags: '-n, --preview',
        about: 'show what would change, and what conflicts; change nothing',
        not: ['--undo', '--unfenced', '--trust'],
      },
      {
        flags: '--undo',
        about: 'undo the merge of the run, as long as your branch stands where it left it',
        not: ['--squash', '--unfenced', '--trust'],
      },
      { flags: '--json', about: 'with --preview, print it as JSON', needs: ['--preview'] },
      UNFENCED,
      TRUST,
    ],
    examples: [
      ['merge', 'the latest run'],
      ['merge fix-3 --squash', 'as one commit that lists its tasks'],
      ['merge fix-3 --preview', 'what would change? does it conflict?'],
      ['merge fix-3 --undo', 'your branch goes back to where it was'],
    ],
    notes:
      'It is one fast-forward or one merge, or nothing at all: uncommitted changes and conflicts stop it before a file is touched. If it is interrupted, the next command finishes or undoes it.',
    load: () => import('./commands/merge.ts'),
  },
  {
    name: 'pause',
    group: 'Decide',
    summary: 'pause a run or one of its tasks',
    asks: ['pause'],
    arguments: [RUN_OR_TASK],
    options: [ON_RUN_OPTION, { flags: '--json', about: 'print what happens to its attempts as JSON' }],
    examples: [
      ['pause', 'the only run at work'],
      ['pause implement', 'one task, and the tasks within it'],
    ],
    notes:
      'Nothing new starts and no request to a model is sent. Agents that can continue their conversation stop, others wait at their next request; plain commands run to their end.',
    load: () => import('./commands/pause.ts'),
  },
  {
    name: 'resume',
    group: 'Decide',
    summary: 'continue a run that was paused, interrupted, cancelled or failed',
    asks: ['resume', 'unpause'],
    arguments: [RUN_OR_TASK],
    options: [ON_RUN_OPTION, DETACH, UNFENCED, TRUST, ...CASSETTE, VERBOSE, JSON_EVENTS],
    examples: [
      ['resume', 'the latest run; finished tasks are not run again'],
      ['resume implement', 'a task that was paused by itself'],
    ],
    load: () => import('./commands/resume.ts'),
  },
  {
    name: 'retry',
    group: 'Decide',
    summary: 'retry one task, and the tasks that wait for it',
    asks: ['retry'],
    arguments: [
      {
        name: 'task',
        about: 'a task that failed, was skipped or was cancelled',
        required: true,
        complete: 'task',
      },
    ],
    options: [
      ON_RUN_OPTION,
      { flags: '--feedback <text>', about: 'feedback for its agent: why the last attempt was not enough' },
      DETACH,
      UNFENCED,
      TRUST,
      VERBOSE,
      JSON_EVENTS,
    ],
    examples: [
      ['retry implement', 'of the latest run'],
      ['retry implement --feedback "cart.ts:42: load the cart first"', 'the agent reads this first'],
    ],
    load: () => import('./commands/retry.ts'),
  },
  {
    name: 'cancel',
    group: 'Decide',
    summary: 'cancel a run, or one task of it; finished work is kept',
    asks: ['cancel'],
    arguments: [
      RUN_ARGUMENT,
      { name: 'task', about: 'only this task, and those within it', complete: 'task' },
    ],
    options: [{ flags: '--now', about: 'do not wait for agents to stop by themselves' }],
    examples: [
      ['cancel', 'the latest run, gracefully'],
      ['cancel calculator-3 --now', 'at once'],
      ['cancel calculator-3 implement', 'one task: those that need it are skipped, others continue'],
    ],
    load: () => import('./commands/cancel.ts'),
  },
  ...REMOTE_COMMANDS,
  ...DISK_COMMANDS,
  ...MCP_COMMANDS,
  {
    name: 'model-server',
    group: 'Keep',
    summary: 'run a scripted fake model server, for trying agents',
    asks: ['modelServer'],
    arguments: [{ name: 'script', about: 'the script, in YAML or JSON', required: true, complete: 'file' }],
    options: [
      { flags: '--port <port>', about: 'defaults to any free port' },
      { flags: '--json', about: 'print each request as a line of JSON' },
    ],
    examples: [
      ['model-server script.yaml', 'prints the variables that point agents at it'],
      ['model-server script.yaml --port 4180 --json', 'for a program'],
    ],
    load: () => import('./commands/model-server.ts'),
  },
  {
    name: 'conformance',
    group: 'Keep',
    summary: 'test what an installed agent can do, without a key or a real model',
    asks: ['conformance'],
    options: [
      {
        flags: '--runtime <runtime>',
        about: `${wordList(MODEL_RUNTIMES, 'or')}; defaults to ${RUNTIME_DEFAULT}`,
      },
      { flags: '--command <command>', about: 'for acp: the agent to start' },
      { flags: '--only <check>', about: 'only this row of the table; may be repeated', repeat: true },
      { flags: '--json', about: 'print the table as JSON' },
    ],
    examples: [
      ['conformance --runtime codex', 'takes a minute or two; exit code 1: bosun cannot rely on it'],
      ['conformance --runtime acp --command "gemini --acp"', 'any agent that speaks the protocol'],
    ],
    load: () => import('./commands/conformance.ts'),
  },
  {
    name: 'agent',
    group: 'Keep',
    summary: 'talk to the engine; only for agents, inside an attempt',
    asks: [],
    arguments: [
      {
        name: 'words',
        about: `${usages().join(', ')}, or mcp`,
        required: true,
        many: true,
      },
    ],
    options: [{ flags: '--json', about: 'print the answer as JSON' }, ...options()],
    examples: [...examples(), ['agent mcp', 'the same as tools for a model, on stdin and stdout']],
    load: () => import('./commands/agent.ts'),
  },
  {
    name: 'completion',
    group: 'Keep',
    summary: 'print a completion script for your shell',
    asks: [],
    arguments: [
      { name: 'shell', about: 'bash, zsh or fish', required: true, choices: ['bash', 'zsh', 'fish'] },
    ],
    examples: [
      ['completion bash >> ~/.bashrc', 'for bash'],
      ['completion zsh > "${fpath[1]}/_bosun"', 'for zsh'],
      ['completion fish > ~/.config/fish/completions/bosun.fish', 'for fish'],
    ],
    load: () => import('./commands/completion.ts'),
  },
  ...SERVE_COMMANDS,
  ...RECORD_COMMANDS,
];
