/**
 * The command line that bosun holds a task in, written out by hand: namespaces of its own, and a layer on a
 * shared base where there is one. It shares no code with src/sandbox, so that both can be compared.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';

interface Layer {
  lower: string;
  upper: string;
  work: string;
  at: string;
}

const FIRST_PROCESS = `
if [ -n "$1" ]; then mount -t overlay overlay -o "$1" "$2" && cd "$2" || exit 125; fi
shift 2
"$@"
exit $?
`;

/** Stands for the id of the process that starts the line. */
export const PARENT = '%PARENT%';

const NATIVE = path.resolve(import.meta.dirname, '../build/launch');

/** The same with the native launcher, where it was built; else with the programs that it stands for. */
export function launchLine(argv: readonly string[], layer?: Layer): string[] {
  if (!existsSync(NATIVE)) return utilLinuxLine(argv, layer);
  const mounted = layer ? [layer.at, '-o', optionsOf(layer), layer.at] : ['/'];
  return [NATIVE, PARENT, ...mounted, '--', ...argv];
}

function optionsOf({ lower, upper, work }: Layer): string {
  return `userxattr,volatile,lowerdir=${lower},upperdir=${upper},workdir=${work}`;
}

function utilLinuxLine(argv: readonly string[], layer?: Layer): string[] {
  const options = layer ? optionsOf(layer) : '';
  const prefix =
    'setpriv --pdeathsig KILL -- ' +
    'unshare --user --map-current-user --keep-caps --mount --pid --fork --kill-child=KILL --mount-proc --';
  const first = ['sh', '-c', FIRST_PROCESS, 'sh', options, layer?.at ?? ''];
  return [...prefix.split(' '), ...first, 'setpriv', '--inh-caps=-all', '--ambient-caps=-all', '--', ...argv];
}
