/**
 * Holds a command in namespaces of its own (user, mount, pid). Never falls back to something weaker: what cannot
 * be made is an error.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { BosunError } from '../contract/errors.ts';
import { asGroup } from '../system/group.ts';
import { findProgram, start, type Launch, type Launcher, type OverlayMount } from '../system/process.ts';

/** What the launch itself says on stderr begins so, and its exit code is this: then the command never ran. */
const MARK = 'bosun-launch: ';
const FAILED = 125;

/** Runs as the first process of the pid namespace, so that everything in it dies with it. */
const INIT = `
failed() { echo "${MARK}$why" >&2; exit ${FAILED}; }
if [ "$3" = empty ]; then
  why=$("$1" -t tmpfs -o size=64m,mode=0700,nosuid,nodev tmpfs "$4" 2>&1) || failed
elif [ -n "$2" ]; then
  why=$("$1" -t overlay overlay -o "$2" "$3" 2>&1) || failed
fi
cd "$4" 2>/dev/null || { why="cannot enter $4"; failed; }
shift 4
"$@"
exit $?
`;
const WHY_CHARS_MAX = 4096;

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
    const child = start(line, { cwd: from, env, detached: true, input: launch.input });
    let said = '';
    child.stderr!.on('data', (chunk: Buffer) => {
      if (said.length < MARK.length) said += chunk.toString('latin1', 0, WHY_CHARS_MAX);
    });
    return asGroup(child, line, async (exit, killed) => {
      if (killed || exit.code !== FAILED) return;
      if (!child.stderr!.closed) await new Promise((resolve) => child.stderr!.once('close', resolve));
      if (!said.startsWith(MARK)) return;
      const why = Buffer.from(said, 'latin1').toString().slice(MARK.length).trim();
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
