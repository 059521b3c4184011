/** What people type who know other tools, and how to get there here. It only suggests: nothing runs by a guess. */
import type { Synonyms } from '../../base/suggest.ts';
import { wordList } from '../../base/word-list.ts';
import type { Command } from './command.ts';

const IN_BACKGROUND = 'to run it in the background: --detach';
const IN_SIGHT =
  'it is shown as it runs unless you --detach; to watch a run that is at work: bosun attach, or bosun logs -f';
const TO_WATCH = 'to watch it: bosun attach, or bosun logs -f';
const TITLES = 'the message is made of the titles of the tasks';
const BY_SUMS = 'for what each model, agent or task cost: bosun history --by model';

/** Options that a command does not have. */
const OPTIONS: Synonyms = {
  'exec --background': IN_BACKGROUND,
  'exec --watch': IN_SIGHT,
  'history --cost': BY_SUMS,
  'history --costs': BY_SUMS,
  'history -n': 'for only so many: --limit',
  'logs --tail': 'for the last lines: bosun logs | tail',
  'logs -n': 'for the last lines: bosun logs | tail',
  'merge --abort': 'a merge is all or nothing; to take one back: bosun merge --undo',
  'merge --dry-run': 'to see what it would merge, and what conflicts: --preview',
  'merge -m': TITLES,
  'merge --message': TITLES,
  'resume --background': IN_BACKGROUND,
  'retry --background': IN_BACKGROUND,
  'run --background': IN_BACKGROUND,
  'run --continue': 'to continue a run: bosun resume',
  'run --resume': 'to continue a run: bosun resume',
  'run --watch': IN_SIGHT,
  'status --follow': TO_WATCH,
  'status --watch': TO_WATCH,
  'status -f': TO_WATCH,
  'status -w': TO_WATCH,
};

/** What other tools call an action: the first of these that the command has. */
const ACTIONS: Readonly<Record<string, readonly string[]>> = {
  add: ['set'],
  create: ['add', 'set'],
  delete: ['remove', 'revoke', 'unset'],
  ls: ['list'],
  make: ['add', 'set'],
  new: ['add', 'set'],
  remove: ['revoke', 'unset'],
  rm: ['remove', 'revoke', 'unset'],
  show: ['list', 'get'],
  update: ['set'],
};

export function otherOption(command: Command | undefined, option: string | undefined): string | undefined {
  const typed = `${command?.name} ${option}`;
  return Object.hasOwn(OPTIONS, typed) ? OPTIONS[typed] : undefined;
}

/** `rest`: what was typed behind the action that is none. */
export function otherAction(
  { name }: Command,
  choices: readonly string[],
  action: string,
  rest: readonly string[],
): string | undefined {
  if (name === 'config') {
    if (['list', 'ls', 'show'].includes(action)) return 'to see everything: bosun config';
    const isKey = /^[a-z][a-z.-]*$/.test(action) && !Object.hasOwn(ACTIONS, action);
    if (isKey && rest.length > 0) return `to set it: bosun config set ${action} ${rest.join(' ')}`;
    if (isKey) return `to see it: bosun config get ${action}`;
  }
  const found = (Object.hasOwn(ACTIONS, action) ? ACTIONS[action]! : []).find((one) => choices.includes(one));
  return found === undefined ? undefined : `did you mean ${['bosun', name, found, ...rest].join(' ')}?`;
}

/** Words too many: a task behind its run, a value for an input. */
export function otherPlace({ name, options = [] }: Command, args: readonly string[]): string | undefined {
  const [run, task] = args;
  if (name === 'run' && args.slice(1).every((arg) => /^[\w-]+=/.test(arg)))
    return `inputs are given as: ${wordList(
      args.slice(1, 4).map((arg) => `-i ${arg.split('=')[0]}=…`),
      'and',
    )}`;
  if (args.length === 2 && options.some(({ flags }) => flags.includes('--task ')))
    return `to name a task: bosun ${name} ${run} --task ${task}`;
  return undefined;
}
