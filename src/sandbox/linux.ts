/**
 * Holds a command in namespaces of its own (user, mount, pid). Never falls back to something weaker: what cannot
 * be made is an error.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { BosunError } from '../contract/errors.ts';
import { asGroup } from '../system/group.ts';
import { findProgram, start, type Launch, type Launcher, type OverlayMount } from '../system/process.ts';

/**
 * Runs as the first process of the pid namespace, so that everything in it dies with it. Descriptor 3 tells
 * us how far it came: its own exit codes could just as well be the command's.
 */
const INIT = `
if [ "$3" = empty ]; then "$1" -t tmpfs -o size=64m,mode=0700,nosuid,nodev tmpfs "$4" 2>&3 || exit 125; fi
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

/** Built from native/launch.c where there is a compiler; without it the same is done by util-linux, more slowly. */
const NATIVE = path.resolve(import.meta.dirname, '../../build/launch');

export class LinuxLauncher implements Launcher {
  readonly #native: string | undefined;
  readonly #programs = {
    setpriv: required('setpriv'),
    unshare: required('unshare'),
    mount: required('mount'),
    sh: required('sh'),
  };

  constructor(options: { native?: boolean } = {}) {
    this.#native = (options.native ?? true) && existsSync(NATIVE) ? NATIVE : undefined;
  }

  launch(launch: Launch): ReturnType<Launcher['launch']> {
    const { argv, cwd, env, overlay } = launch;
    const from = overlay ? commonParent(overlay) : '/';
    const line =
      this.#native === undefined ? this.#withUtilLinux(launch, from) : nativeLine(this.#native, launch, from);
    const child = start(line, { cwd: from, env, detached: true, report: true, input: launch.input });
    let report = '';
    child.stdio[3]!.on('data', (chunk: Buffer) => {
      if (report.length < REPORT_CHARS_MAX) report += chunk.toString();
    });
    const reported = new Promise<void>((resolve) => child.stdio[3]!.once('close', resolve));
    return asGroup(child, line, async (exit, killed) => {
      await reported;
      if (report === READY || killed || exit.signal !== null) return;
      const why = report.trim() || 'unshare failed, see its output';
      throw new BosunError(
        'system',
        `cannot prepare the surroundings of ${argv[0]} in ${cwd}: ${why}; bosun doctor says what this machine lacks`,
        { data: { why } },
      );
    });
  }

  #withUtilLinux({ argv, cwd, overlay, emptyCwd }: Launch, from: string): string[] {
    const { setpriv, unshare, mount, sh } = this.#programs;
    const mountPoint = emptyCwd ? 'empty' : (overlay?.at ?? '');
    const options = overlay ? mountOptions(overlay, from) : '';
    return [
      setpriv,
      ...'--pdeathsig KILL --'.split(' '),
      unshare,
      ...'--user --map-current-user --keep-caps --mount --pid --fork --kill-child=KILL --mount-proc --'.split(
        ' ',
      ),
      sh,
      '-c',
      INIT,
      'sh',
      mount,
      options,
      mountPoint,
      cwd,
      setpriv,
      ...'--inh-caps=-all --ambient-caps=-all --'.split(' '),
      ...argv,
    ];
  }
}

/** The same in one process. */
function nativeLine(program: string, { argv, cwd, overlay, emptyCwd }: Launch, from: string): string[] {
  const mounted = overlay ? ['-o', mountOptions(overlay, from), overlay.at] : emptyCwd ? ['-e'] : [];
  return [program, String(process.pid), cwd, ...mounted, '--', ...argv];
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
