/** Completion for shells: the table of commands in each shell's words. */
import { shellQuoted } from '../../base/shell-word.ts';
import type { Command } from './command.ts';
import { COMMANDS } from './table.ts';

/** Runs, as the completion asks for them. */
const RUNS = `bosun history --json 2>/dev/null | sed -n 's/^{"id":"\\([^"]*\\)".*/\\1/p'`;

function optionsOf({
  options = [],
}: Command): { long: string; short: string | undefined; about: string; takesValue: boolean }[] {
  const own = options.map(({ flags, about }) => ({
    long: /--([a-z-]+)/.exec(flags)![1]!,
    short: /^-(\w),/.exec(flags)?.[1],
    about,
    takesValue: flags.includes('<'),
  }));
  return [...own, { long: 'help', short: 'h', about: 'print the help of the command', takesValue: false }];
}

function wordsOf({ arguments: places = [] }: Command): {
  choices: readonly string[];
  kind: 'run' | 'task' | 'file' | undefined;
} {
  return {
    choices: places.flatMap(({ choices }) => choices ?? []),
    kind: places.find(({ complete }) => complete)?.complete,
  };
}

export function bashScript(): string {
  const cases = COMMANDS.map((command) => {
    const { choices, kind } = wordsOf(command);
    const options = optionsOf(command).map(({ long }) => `--${long}`);
    const runs = kind === 'run' ? ` $(${RUNS})` : '';
    const files = kind === 'file' ? ' COMPREPLY+=($(compgen -f -- "$word"));' : '';
    return `    ${command.name}) COMPREPLY=($(compgen -W "${[...options, ...choices].join(' ')}${runs}" -- "$word"));${files} ;;`;
  });
  return `# bosun completion for bash
_bosun() {
  local word=\${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${COMMANDS.map(({ name }) => name).join(' ')} help --help --version --no-color" -- "$word"))
    return
  fi
  case \${COMP_WORDS[1]} in
${cases.join('\n')}
  esac
}
complete -F _bosun bosun
`;
}

export function zshScript(): string {
  const escaped = (text: string): string =>
    text.replaceAll('[', '\\[').replaceAll(']', '\\]').replaceAll(':', '\\:');
  const cases = COMMANDS.map((command) => {
    const { choices, kind } = wordsOf(command);
    const options = optionsOf(command).map(({ long, about, takesValue }) =>
      shellQuoted(`--${long}[${escaped(about)}]${takesValue ? ':value:' : ''}`),
    );
    const words =
      kind === 'run'
        ? [shellQuoted(`1:run:($(${RUNS}))`)]
        : kind === 'file'
          ? [`'1:file:_files'`]
          : choices.length > 0
            ? [`'1:word:(${choices.join(' ')})'`]
            : [];
    return `    ${command.name}) _arguments ${[...options, ...words].join(' ')} ;;`;
  });
  return `#compdef bosun
_bosun() {
  local -a commands
  commands=(
${COMMANDS.map(({ name, summary }) => `    ${shellQuoted(`${name}:${escaped(summary)}`)}`).join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe 'command' commands
    return
  fi
  local name=\${words[2]}
  shift words
  (( CURRENT-- ))
  case $name in
${cases.join('\n')}
  esac
}
if [ "$funcstack[1]" = "_bosun" ]; then _bosun "$@"; else compdef _bosun bosun; fi
`;
}

export function fishScript(): string {
  const quoted = (text: string): string => text.replaceAll("'", "\\'");
  const lines = COMMANDS.flatMap((command) => {
    const { choices, kind } = wordsOf(command);
    const at = `complete -c bosun -n '__fish_seen_subcommand_from ${command.name}'`;
    return [
      `complete -c bosun -f -n __fish_use_subcommand -a ${command.name} -d '${quoted(command.summary)}'`,
      ...optionsOf(command).map(
        ({ long, short, about, takesValue }) =>
          `${at}${short ? ` -s ${short}` : ''} -l ${long}${takesValue ? ' -r' : ''} -d '${quoted(about)}'`,
      ),
      ...(kind === 'run' ? [`${at} -f -a "(${RUNS.replaceAll('"', '\\"')})"`] : []),
      ...(kind === 'file' ? [`${at} -F`] : []),
      ...(choices.length > 0 ? [`${at} -f -a '${choices.join(' ')}'`] : []),
    ];
  });
  return `# bosun completion for fish\n${lines.join('\n')}\n`;
}
