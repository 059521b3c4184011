/**
 * Holds a command in namespaces of its own (user, mount, pid) with util-linux alone. Never falls back to
 * something weaker: what cannot be made is an error.
 */
import path from 'node:path';
import { BosunError } from '../contract/errors.ts';
import { asGroup } from '../system/group.ts';
import { findProgram, start, type Launch, type Launcher, type OverlayMount } from '../system/process.ts';

/**
 * Runs as the first process of the pid namespace, so that everything in it dies with it. Descriptor 3 tells
 * us how far it came: its own exit codes could just as well be the command's.
 */
const INIT = `
if [ -n "$2" ]; then "$1" -t overlay overlay -o "$2" "$3" 2>&3 || exit 125; fi
cd "$4" 2>&3 || exit 125
shift 4
echo ready >&3
exec 3>&-
"$@"
exit $?
`;
const READY = 'ready\n';
const REPORT_CHARS_MAX = 4096;

export class LinuxLauncher implements Launcher {
  readonly #programs = {
    setpriv: required('setpriv'),
    unshare: required('unshare'),
    mount: required('mount'),
    sh: required('sh'),
  };

  launch({ argv, cwd, env, overlay }: Launch): ReturnType<Launcher['launch']> {
    const { setpriv, unshare, mount, sh } = this.#programs;
    const from = overlay ? commonParent(overlay) : '/';
    const withEngine = [setpriv, '--pdeathsig', 'KILL', '--'];
    const spaces = [
      unshare,
      '--user',
      '--map-current-user',
      '--keep-caps',
      '--mount',
      '--pid',
      '--mount-proc',
    ];
    const options = overlay ? mountOptions(overlay, from) : '';
    const init = [sh, '-c', INIT, 'sh', mount, options, overlay?.at ?? '', cwd];
    const command = [setpriv, '--inh-caps=-all', '--ambient-caps=-all', '--', ...argv];
    const child = start(
      [...withEngine, ...spaces, '--fork', '--kill-child=KILL', '--', ...init, ...command],
      { cwd: from, env, detached: true, report: true },
    );
    let report = '';
    child.stdio[3]!.on('data', (chunk: Buffer) => {
      if (report.length < REPORT_CHARS_MAX) report += chunk.toString();
    });
    const reported = new Promise<void>((resolve) => child.stdio[3]!.once('close', resolve));
    return asGroup(child, [setpriv], async (exit, killed) => {
      await reported;
      if (report === READY || killed || exit.signal !== null) return;
      throw new BosunError(
        'system',
        `cannot prepare the surroundings of ${argv[0]} in ${cwd}: ${report.trim() || 'unshare failed, see its output'}; ` +
          '`bosun doctor` says what this machine lacks',
      );
    });
  }
}

/**
 * Mount options know no way to write every path, so they are relative to a directory that we start in: below
 * it all names are our own.
 */
function mountOptions(overlay: OverlayMount, from: string): string {
  const relative = (directory: string): string => {
    const name = path.relative(from, directory) || '.';
    if (/[,:\\"\n]/.test(name))
      throw new TypeError(`cannot mount ${directory}: odd characters below ${from}`);
    return name;
  };
  const lowers = overlay.lowers.map(relative).join(':');
  return `userxattr,volatile,lowerdir=${lowers},upperdir=${relative(overlay.upper)},workdir=${relative(overlay.work)}`;
}

function commonParent(overlay: OverlayMount): string {
  const all = [...overlay.lowers, overlay.upper, overlay.work].map((directory) => directory.split('/'));
  const first = all[0]!;
  let depth = 0;
  while (depth < first.length - 1 && all.every((parts) => parts[depth] === first[depth])) depth += 1;
  return first.slice(0, depth).join('/') || '/';
}

function required(name: string): string {
  const file = findProgram(name);
  if (file !== undefined) return file;
  throw new BosunError('system', `${name} is missing: install the package util-linux`);
}
