/** The commands that show what runs did and do. Words only: what they do is in their files. */
import { wordList } from '../../base/word-list.ts';
import { SHOWN_RUN_STATES, TASK_STATES } from '../../contract/run-states.ts';
import { TOTALS_PER } from '../../contract/operation.ts';
import type { Command } from './command.ts';
import { JSON_EVENTS, RUN_ARGUMENT, VERBOSE } from './table-options.ts';
import { AGENTS } from './table-queue.ts';

export const LOOK_COMMANDS: Command[] = [
  {
    name: 'status',
    group: 'Look',
    summary: 'show the state of a run',
    asks: ['status', 'atWork', 'messages'],
    arguments: [RUN_ARGUMENT],
    options: [
      { flags: '--messages', about: 'what agents said to each other, and who has read it' },
      { flags: '--json', about: 'print it as JSON' },
    ],
    examples: [
      ['status', 'the latest run'],
      ['status --messages', 'who said what to whom'],
      ['status calculator-3 --json', 'for a program'],
    ],
    load: () => import('./commands/status.ts'),
  },
  {
    name: 'logs',
    group: 'Look',
    summary: 'show what happened in a run, and what its tasks printed',
    asks: ['logs', 'events'],
    arguments: [RUN_ARGUMENT],
    options: [
      { flags: '-f, --follow', about: 'keep following until the run ends' },
      { flags: '-t, --task <task>', about: 'only this task' },
      { flags: '-a, --all', about: 'all runs of the repository, in the order in which things happened' },
      { flags: '--json', about: 'print events as NDJSON' },
    ],
    examples: [
      ['logs -f', 'watch the latest run'],
      ['logs calculator-3 --task implement', 'one task'],
    ],
    load: () => import('./commands/logs.ts'),
  },
  {
    name: 'diff',
    group: 'Look',
    summary: 'show what a run changed, as a patch',
    asks: ['diff', 'status'],
    arguments: [RUN_ARGUMENT],
    options: [
      { flags: '-t, --task <task>', about: 'only what this task changed, even if it failed' },
      { flags: '--attempt <number>', about: 'only what this attempt of the task changed' },
      { flags: '--outside', about: 'changes the task made outside its scope' },
      {
        flags: '--wanted',
        about: 'the change to files of others that the task asks for',
        not: ['--attempt', '--outside'],
      },
      {
        flags: '--candidates',
        about: 'of a race, given with --task: what each candidate changed, side by side',
        not: ['--attempt', '--outside', '--wanted', '--path', '--stat'],
      },
      { flags: '--path <path>', about: 'only this file', not: ['--wanted'] },
      { flags: '--stat', about: 'only file names and line counts' },
    ],
    examples: [
      ['diff', 'all changes of the latest run'],
      ['diff --task implement --attempt 1', 'what the first attempt left'],
      ['diff --task implement --outside', 'what its scope did not allow'],
      ['diff --task implement --wanted', 'what it asks an owner, or you, to change'],
      ['diff --task write --candidates', 'what the candidates of a race changed, side by side'],
      ['diff | git apply', 'take the changes without the commits'],
    ],
    load: () => import('./commands/diff.ts'),
  },
  {
    name: 'report',
    group: 'Look',
    summary: 'show the report of a run',
    asks: ['report', 'reportPage'],
    arguments: [RUN_ARGUMENT],
    options: [
      { flags: '--format <format>', about: 'text, json or html', choices: ['text', 'json', 'html'] },
      { flags: '--json', about: 'the same as --format json' },
      { flags: '--open', about: 'print the path of the HTML report', not: ['--format', '--json'] },
    ],
    examples: [
      ['report', 'the latest run'],
      ['report --json', 'for a program'],
      ['report --open', 'the path of the HTML report, for a browser'],
    ],
    load: () => import('./commands/report.ts'),
  },
  {
    name: 'tasks',
    group: 'Look',
    summary: 'list the tasks of a run, or the attempts of one',
    asks: ['tasks', 'attempts'],
    arguments: [RUN_ARGUMENT],
    options: [
      {
        flags: '-t, --task <task>',
        about: 'what was tried for this task',
        not: ['--state', '--limit', '--after'],
      },
      {
        flags: '--state <state>',
        about: 'only tasks in this state; may be repeated',
        repeat: true,
        choices: TASK_STATES,
      },
      { flags: '--limit <count>', about: 'how many tasks to list; defaults to 200' },
      { flags: '--after <task>', about: 'only those behind this task' },
      { flags: '--json', about: 'print each as a line of JSON' },
    ],
    examples: [
      ['tasks --state failed', 'what failed in the latest run'],
      ['tasks --task implement', 'its attempts, and what became of each'],
    ],
    load: () => import('./commands/tasks.ts'),
  },
  {
    name: 'artifacts',
    group: 'Look',
    summary: 'list the artifacts of a task, or print one',
    asks: ['artifacts', 'artifact'],
    arguments: [RUN_ARGUMENT],
    options: [
      { flags: '-t, --task <task>', about: 'the task whose artifacts to list' },
      { flags: '--attempt <number>', about: 'those of this attempt; defaults to the last one' },
      { flags: '--path <path>', about: 'print this one, byte for byte', not: ['--json'] },
      { flags: '--json', about: 'print the list as JSON' },
    ],
    examples: [
      ['artifacts --task build', 'what the task kept'],
      ['artifacts --task build --path dist/app.tar > app.tar', 'one of them'],
    ],
    load: () => import('./commands/artifacts.ts'),
  },
  AGENTS,
  {
    name: 'history',
    group: 'Look',
    summary: 'list the runs, the newest first, or sum up what they cost',
    asks: ['history', 'totals', 'overview', 'servedRuns'],
    options: [
      { flags: '--limit <count>', about: 'how many runs to list; defaults to 20, without a limit for --by' },
      { flags: '--since <when>', about: 'only runs that started since then, such as 7d or 2026-11-01' },
      {
        flags: '--state <state>',
        about: 'only runs in this state; may be repeated',
        repeat: true,
        choices: SHOWN_RUN_STATES,
      },
      { flags: '--before <run>', about: 'only runs that are older than this one' },
      {
        flags: '--by <what>',
        about: `sum up cost, time and failures by ${wordList(TOTALS_PER, 'or')}`,
        choices: TOTALS_PER,
        not: ['--state', '--before'],
      },
      {
        flags: '--overview',
        about: 'print who was at work when in each run, and what was spent by day, as JSON',
        not: ['--since', '--by', '--csv'],
      },
      {
        flags: '--served',
        about: 'runs of all repositories that are served, see bosun repositories',
        not: ['--by', '--overview', '--csv'],
      },
      { flags: '--json', about: 'print each run, or each sum, as a line of JSON' },
      { flags: '--csv', about: 'print them as CSV' },
    ],
    examples: [
      ['history', 'the latest runs of this repository'],
      ['history --since 7d --by model', 'what each model cost this week'],
      ['history --since 2026-11-01 --csv > runs.csv', 'for a spreadsheet'],
    ],
    load: () => import('./commands/history.ts'),
  },
  {
    name: 'attach',
    group: 'Look',
    summary: 'watch a run at work, answer its questions, message its agents',
    asks: ['attach'],
    arguments: [RUN_ARGUMENT],
    options: [VERBOSE, JSON_EVENTS],
    examples: [
      ['attach', 'the only run at work'],
      ['attach calculator-3', 'one of several'],
    ],
    notes:
      'Ctrl-C stops watching and the run continues; c cancels the run, after asking. p pauses and continues, s sends an agent a message.',
    load: () => import('./commands/attach.ts'),
  },
  {
    name: 'open',
    group: 'Look',
    summary: 'open a service of a run on a port of this machine',
    asks: ['open'],
    arguments: [
      {
        name: 'words',
        about: '[run] <service>: the only run at work if you name none',
        required: true,
        many: true,
      },
    ],
    options: [
      { flags: '--tcp', about: 'any protocol, without the checks that keep web pages from elsewhere out' },
      { flags: '--json', about: 'print the address as JSON' },
    ],
    examples: [
      ['open web', 'what an agent serves as web: prints its address'],
      ['open calculator-3 db --tcp', 'for a client that does not speak HTTP'],
    ],
    notes: 'It stays open until Ctrl-C, or until the service is gone.',
    load: () => import('./commands/open.ts'),
  },
  {
    name: 'wait',
    group: 'Look',
    summary: 'wait until runs end; the exit code is that of the run',
    asks: ['wait'],
    arguments: [
      { name: 'runs', about: 'run ids; defaults to the only run at work', many: true, complete: 'run' },
    ],
    examples: [
      ['wait', 'the only run at work'],
      ['wait $(bosun run --detach) && bosun merge', 'in a script'],
    ],
    load: () => import('./commands/wait.ts'),
  },
];
