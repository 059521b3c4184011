/**
 * The command line that bosun holds a task in, written out by hand: namespaces of its own, and a layer on a
 * shared base where there is one. It shares no code with src/sandbox, so that both can be compared.
 */

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

export function launchLine(argv: readonly string[], layer?: Layer): string[] {
  const options = layer
    ? `userxattr,volatile,lowerdir=${layer.lower},upperdir=${layer.upper},workdir=${layer.work}`
    : '';
  const prefix =
    'setpriv --pdeathsig KILL -- ' +
    'unshare --user --map-current-user --keep-caps --mount --pid --fork --kill-child=KILL --mount-proc --';
  const first = ['sh', '-c', FIRST_PROCESS, 'sh', options, layer?.at ?? ''];
  return [...prefix.split(' '), ...first, 'setpriv', '--inh-caps=-all', '--ambient-caps=-all', '--', ...argv];
}
