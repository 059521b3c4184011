/** Feeds the table of commands to the parser: help, mistakes and suggestions come from there. */
import {
  Argument as ParserArgument,
  Command as Parser,
  CommanderError,
  Option as ParserOption,
} from 'commander';
import { suggest, type Synonyms } from '../../base/suggest.ts';
import { wordList } from '../../base/word-list.ts';
import { BosunError } from '../../contract/errors.ts';
import type { Command, Typed } from './command.ts';
import { otherAction, otherOption, otherPlace } from './other-ways.ts';
import { writeOut } from './output.ts';
import { COMMANDS } from './table.ts';

/** What other tools call a command, and what to type here. */
const SYNONYMS: Synonyms = {
  abort: 'cancel',
  apply: 'merge',
  approve: 'answer',
  attach: 'logs -f',
  clean: 'workspaces clean',
  continue: 'resume',
  cost: 'budget',
  gc: 'prune',
  kill: 'cancel',
  lint: 'check',
  list: 'history',
  ls: 'history',
  ps: 'status',
  revert: 'merge --undo',
  rm: 'prune',
  rollback: 'merge --undo',
  runs: 'history',
  show: 'status',
  start: 'run',
  stop: 'cancel',
  tail: 'logs -f',
  undo: 'merge --undo',
  validate: 'check',
  version: '--version',
  watch: 'logs -f',
};

export interface Chosen {
  command: Command;
  typed: Typed;
}

/** Undefined where help was asked for and given. */
export function parse(words: readonly string[]): Chosen | undefined {
  let chosen: Chosen | undefined;
  const parser = root();
  for (const command of COMMANDS) {
    const child = childOf(parser, command);
    child.action(() => {
      const typed: Typed = {
        command,
        args: child.args,
        options: child.opts(),
        hasDashes: words.includes('--'),
      };
      chosen = { command, typed };
    });
  }
  try {
    parser.parse(words, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return undefined;
    throw usageError(error, words);
  }
  return chosen;
}

function root(): Parser {
  return new Parser('bosun')
    .description(
      'Runs a crew of coding agents on a git repository: in parallel, each in a workspace of its own.',
    )
    .usage('<command> [options]')
    .option('--no-color', 'no colours (the variable NO_COLOR does the same)')
    .option('-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .addHelpCommand(
      new Parser('help').argument('[command]').description('print the help of a command').helpGroup('Keep:'),
    )
    .addHelpText('after', '\nbosun <command> --help shows the options of a command, with examples.')
    .configureHelp({ subcommandTerm: (child) => child.name(), sortSubcommands: false })
    .configureOutput({ writeOut, writeErr: () => {}, outputError: () => {} })
    .exitOverride()
    .action((_, parser: Parser) => parser.help());
}

function childOf(parser: Parser, command: Command): Parser {
  const child = parser
    .command(command.name)
    .summary(command.summary)
    .description(`${command.summary[0]!.toUpperCase()}${command.summary.slice(1)}.`)
    .helpGroup(`${command.group}:`)
    .helpOption('-h, --help', 'print this help');
  for (const { name, required, many, about, choices } of command.arguments ?? []) {
    const inner = many ? `${name}...` : name;
    const argument = new ParserArgument(required ? `<${inner}>` : `[${inner}]`, about);
    child.addArgument(choices ? argument.choices([...choices]) : argument);
  }
  for (const { flags, about, repeat, choices } of command.options ?? []) {
    const option = new ParserOption(flags, about);
    if (choices) option.choices([...choices]);
    const { parseArg } = option; // which refuses what is no choice
    if (repeat)
      option.argParser((value, before: string[] | undefined) => {
        parseArg?.(value, undefined);
        return [...(before ?? []), value];
      });
    child.addOption(option);
  }
  return child
    .addOption(new ParserOption('--no-color', 'no colours').hideHelp())
    .addHelpText('after', examplesOf(command));
}

function examplesOf({ examples, notes }: Command): string {
  const typed = examples.map(([words, why]) => `  bosun ${words}\n      ${why}`);
  return ['', 'Examples:', ...typed, ...(notes === undefined ? [] : ['', notes])].join('\n');
}

function usageError(error: CommanderError, words: readonly string[]): BosunError {
  const [plain = '', near] = error.message.replace(/^error: /, '').split(/\n(?=\(Did you mean .+\?\)$)/s);
  const command = COMMANDS.find(({ name }) => name === words.find((word) => !word.startsWith('-')));
  const help = command ? `bosun ${command.name} --help` : 'bosun --help';
  const option = /^unknown option '([^'=]+)/.exec(plain)?.[1];
  const way = otherOption(command, option) ?? (command && placeHint(error.code, plain, command, words));
  const hint = way ?? near?.slice(1, -1).replace('Did', 'did');
  const said = command ? inOurWords(error.code, plain, command) : plain;
  return new BosunError('usage', `${said}${hint === undefined ? '' : `; ${hint}`} (see: ${help})`);
}

/** Of a word that is in no place for it. */
function placeHint(
  code: string,
  plain: string,
  command: Command,
  words: readonly string[],
): string | undefined {
  if (code === 'commander.excessArguments')
    return otherPlace(
      command,
      excessOf(plain)
        .replace(/^\d+: /, '')
        .split(', '),
    );
  const [, got] = /command-argument value '([^]*?)' is invalid for argument 'action'/.exec(plain) ?? [];
  const choices = command.arguments?.find(({ name }) => name === 'action')?.choices;
  if (got === undefined || !choices) return undefined;
  const after = words.slice(words.indexOf(got) + 1);
  const end = after.findIndex((word) => word.startsWith('-'));
  return otherAction(command, choices, got, end === -1 ? after : after.slice(0, end));
}

/** "2: a, b" */
function excessOf(plain: string): string {
  return plain.slice(plain.indexOf(' but got ') + ' but got '.length).replace(/\.$/, '');
}

/** The parser's messages name its own notions. */
function inOurWords(code: string, plain: string, command: Command): string {
  const { name, options = [] } = command;
  const places = command.arguments ?? [];
  const [, quoted = ''] = /'([^']*)'/.exec(plain) ?? [];
  const longOf = (flags: string): string => /--[a-z-]+/.exec(flags)?.[0] ?? flags;
  const oneOf = (what: string, choices: readonly string[], got: string): string =>
    `${what} must be ${wordList(choices, 'or')}, not "${got}"`;
  switch (code) {
    case 'commander.missingArgument': {
      const place = places.find((each) => each.name === quoted);
      return `bosun ${name} needs <${quoted}>${place ? `: ${place.about}` : ''}`;
    }
    case 'commander.optionMissingArgument':
      return `${longOf(quoted)} needs a value: ${quoted.replace(/^-\w, /, '')}`;
    case 'commander.excessArguments': {
      const got = excessOf(plain);
      const most =
        places.length === 0
          ? 'no argument'
          : places.length === 1
            ? 'one argument'
            : `${places.length} arguments`;
      return `bosun ${name} takes ${places.length > 1 ? 'at most ' : ''}${most}, not ${got}`;
    }
    case 'commander.invalidArgument': {
      const [, got = ''] = /(?:argument|argument value) '([^]*?)' is invalid/.exec(plain) ?? [];
      const option = options.find(({ flags }) => plain.startsWith(`option '${flags}'`));
      if (option?.choices) return oneOf(longOf(option.flags), option.choices, got);
      const place = places.find((each) => each.choices && plain.includes(`argument '${each.name}'`));
      return place?.choices ? oneOf(place.name, place.choices, got) : plain;
    }
    default:
      return plain;
  }
}

/** A word that is no command. */
export function unknownCommand(word: string): BosunError {
  const names = COMMANDS.map(({ name }) => name);
  const near = suggest(word, [...names, ...Object.values(SYNONYMS)], SYNONYMS);
  return new BosunError(
    'usage',
    `unknown command "${word}"${near ? `; did you mean "bosun ${near}"?` : ''} (all commands: bosun --help)`,
  );
}
