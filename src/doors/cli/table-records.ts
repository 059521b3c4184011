/** The commands about workers, templates, work items and executions. Words only: what they do is in their files. */
import { RUNTIMES } from '../../contract/runtimes.ts';
import { wordList } from '../../base/word-list.ts';
import type { Argument, Command, Option } from './command.ts';

const ACTION: Argument = { name: 'action', about: 'list, set or remove', choices: ['list', 'set', 'remove'] };
const ID: Argument = { name: 'id', about: 'set, remove: its id, such as fix-bug' };
const SET = ['set'] as const;
const JSON_LINES: Option = { flags: '--json', about: 'print each as a line of JSON' };
const load = () => import('./commands/records.ts');

export const RECORD_COMMANDS: Command[] = [
  {
    name: 'workers',
    group: 'Serve',
    summary: 'list, set and remove workers: agents that take work items',
    asks: ['workers', 'putWorker', 'removeWorker'],
    arguments: [ACTION, ID],
    options: [
      { flags: '--name <name>', about: 'what people call it', needs: SET },
      { flags: '--runtime <runtime>', about: wordList(RUNTIMES, 'or'), needs: SET },
      { flags: '--model <model>', about: 'such as claude-sonnet-4-5', needs: SET },
      { flags: '--command <command>', about: 'cli, acp: the command to start', needs: SET },
      { flags: '--offline', about: 'give it no work for now', needs: SET },
      JSON_LINES,
    ],
    examples: [['workers set anna --name Anna --command "my-agent"', 'a worker that is a command']],
    load,
  },
  {
    name: 'templates',
    group: 'Serve',
    summary: 'list, set and remove templates: the prompts that workers get',
    asks: ['templates', 'putTemplate', 'removeTemplate'],
    arguments: [ACTION, ID],
    options: [
      { flags: '--name <name>', about: 'what people call it', needs: SET },
      { flags: '--prompt <prompt>', about: 'what comes before the work item', needs: SET },
      {
        flags: '--check <command>',
        about: 'a command that must pass; failures go back to the agent',
        needs: SET,
      },
      JSON_LINES,
    ],
    examples: [['templates set fix --name Fix --prompt "Fix this bug." --check "npm test"', 'with a check']],
    load,
  },
  {
    name: 'items',
    group: 'Serve',
    summary: 'list, set and remove work items',
    asks: ['items', 'putItem', 'removeItem'],
    arguments: [ACTION, ID],
    options: [
      { flags: '--title <title>', about: 'in a few words', needs: SET },
      { flags: '--text <text>', about: 'all that the worker needs to know', needs: SET },
      JSON_LINES,
    ],
    examples: [['items set bug-7 --title "Wrong total" --text "The cart shows 0."', 'a work item']],
    load,
  },
  {
    name: 'executions',
    group: 'Serve',
    summary: 'start, show, cancel and clean up executions of work items',
    asks: ['execute', 'executions', 'execution', 'cancelExecution', 'executionWorkspaces', 'cleanExecution'],
    arguments: [
      {
        name: 'action',
        about: 'list, show, start, cancel, workspaces or clean',
        choices: ['list', 'show', 'start', 'cancel', 'workspaces', 'clean'],
      },
      { name: 'execution', about: 'show, cancel, clean: its id' },
    ],
    options: [
      {
        flags: '--worker-id <id>',
        about: 'start: who does it; list: only of this worker',
        needs: ['start', 'list'],
      },
      { flags: '--work-item-id <id>', about: 'start: what is to be done', needs: ['start'] },
      { flags: '--template-id <id>', about: 'start: the prompt that the worker gets', needs: ['start'] },
      {
        flags: '--repository-id <name>',
        about: 'start, list: as in bosun repositories',
        needs: ['start', 'list'],
      },
      {
        flags: '--workspace-id <id>',
        about: 'start: continue from what this execution left',
        needs: ['start'],
      },
      {
        flags: '--key <key>',
        about: 'start: the same key never starts a second one',
        needs: ['start'],
      },
      JSON_LINES,
    ],
    examples: [
      ['executions', 'the newest first'],
      ['executions show shop:execution-3 --json', 'with its diff, logs and metrics'],
    ],
    notes: 'What is started here waits for bosun work, or for bosun serve.',
    load: () => import('./commands/executions.ts'),
  },
];
