/**
 * The command lines that make a command's surroundings: with our native launcher in one process, or with util-linux,
 * more slowly. Both do the same in the same order; neither decides anything.
 */
import path from 'node:path';
import { BosunError } from '../../contract/errors.ts';
import type { FenceLimits } from '../../system/process/fence.ts';
import { findProgram, type OverlayMount } from '../../system/process/process.ts';
import { kernelLimits, prlimitArgv } from '../limits/prlimit.ts';
import { directoryOfAll } from './directory-of-all.ts';
import type { ClosedDirectory } from './closed-directories.ts';

/** What the launch itself says on stderr begins so, and its exit code is this: then the command never ran. */
export const MARK = 'bosun-launch: ';
export const FAILED = 125;

export interface LaunchPlan {
  command: string[];
  cwd: string;
  emptyCwd: boolean;
  overlay: OverlayMount | undefined;
  /** Who to become first. */
  uid: number | undefined;
  closedDirectories: ClosedDirectory[];
  /** The command makes its namespaces itself (bwrap). */
  isFence: boolean;
  /** Of bwrap and all below it: its process inside is one that the command may trace. */
  limits?: FenceLimits;
}

/** Options and command of native/launch.c. */
export function nativeWords(around: LaunchPlan): string[] {
  const { command, cwd, emptyCwd, overlay, uid, closedDirectories, isFence, limits = {} } = around;
  const from = overlay && directoryOfAll(layersOf(overlay));
  return [
    ...(uid === undefined ? [] : ['-u', String(uid)]),
    ...(uid === undefined
      ? []
      : closedDirectories.flatMap(({ path, isKept }) => [isKept ? '-r' : '-s', path])),
    ...(from === undefined ? [] : ['-w', from, '-o', mountOptions(overlay!, from), overlay!.at]),
    ...(emptyCwd ? ['-e'] : []),
    ...(isFence ? ['-f', '-l', ...kernelLimits(limits)] : ['-d', cwd]),
    '--',
    ...command,
  ];
}

/** Descriptors that were left open by whoever started the engine; a shell can close only the first ten. */
const CLOSE = `
opendir my $list, '/proc/self/fd' or die "${MARK}/proc: $!\\n";
require POSIX;
my $first = shift;
POSIX::close($_) for grep { /^[0-9]+$/ && $_ >= $first && $_ != fileno $list } readdir $list;
exec { $ARGV[0] } @ARGV or exit 127;
`;

/** $1 mount, then paths from the outside in, "s" before those to shadow and "r" before those to keep, "--", the rest. */
const SHADOW = `
failed() { echo "${MARK}$why" >&2; exit ${FAILED}; }
mount=$1 place=/run; shift
[ "$1" != -- ] && why=$("$mount" -t tmpfs -o size=1m,mode=0755 tmpfs "$place" 2>&1) || failed
n=0
for each in "$@"; do
  [ "$each" = -- ] && break
  n=$((n + 1))
  case $each in s*) continue;; esac
  each=\${each#r}
  if [ -d "$each" ]; then mkdir "$place/$n"; else : > "$place/$n"; fi
  why=$("$mount" --rbind "$each" "$place/$n" 2>&1) || failed
done
n=0
while [ "$1" != -- ]; do
  n=$((n + 1)) each=\${1#?}
  case $1 in
    s*) why=$("$mount" -t tmpfs -o size=1m,mode=0755 tmpfs "$each" 2>&1) || failed;;
    r*)
      mkdir -p "$(dirname "$each")"
      if [ -d "$place/$n" ]; then mkdir -p "$each"; else [ -e "$each" ] || : > "$each"; fi
      why=$("$mount" --move "$place/$n" "$each" 2>&1) || failed;;
  esac
  shift
done
shift
exec "$@"
`;

/** $1 mount, $2 what paths begin at, $3 options of the overlay, $4 where it goes. */
const OVERLAY = `
failed() { echo "${MARK}$why" >&2; exit ${FAILED}; }
cd "$2" 2>/dev/null || { why="cannot enter $2"; failed; }
if [ -n "$3" ]; then why=$("$1" -t overlay overlay -o "$3" "$4" 2>&1) || failed; fi
work=\${3##*,workdir=}/work # as unlock_work of native/launch.c
[ -z "$3" ] || chmod 0700 "$work" "$work/incompat" "$work/incompat/volatile" 2>/dev/null
shift 4
exec "$@"
`;

/** For inotify and fanotify, in each sandbox: more than watchers of large repositories need. As in native/launch.c. */
const WATCHES_MAX = 32_768;
const WATCHERS_MAX = 128;

/** Watches are memory of the kernel, and else come out of what the user's own editor has. Older kernels know not all. */
const FENCE = `
exec 5<&4
bound() {
  [ ! -e "/proc/sys/user/$1" ] || echo "$2" > "/proc/sys/user/$1" || { echo "${MARK}cannot limit $1" >&2; exit ${FAILED}; }
}
bound max_inotify_watches ${WATCHES_MAX}
bound max_inotify_instances ${WATCHERS_MAX}
bound max_fanotify_marks ${WATCHES_MAX}
bound max_fanotify_groups ${WATCHERS_MAX}
echo 500 > /proc/self/oom_score_adj 2>/dev/null
exec "$@"
`;

/** $1 mount, $2 "empty" or nothing, $3 the command's directory. Runs as the first process of the pid namespace. */
const INIT = `
failed() { echo "${MARK}$why" >&2; exit ${FAILED}; }
if [ "$2" = empty ]; then
  why=$("$1" -t tmpfs -o size=64m,mode=0700,nosuid,nodev tmpfs "$3" 2>&1) || failed
fi
cd "$3" 2>/dev/null || { why="cannot enter $3"; failed; }
shift 3
"$@"
exit $?
`;

/** bwrap itself opens a few; as in native/launch.c. */
const BWRAP_FILES = 64;

function forBwrap(limits: FenceLimits): FenceLimits {
  const { openFiles } = limits;
  return openFiles === undefined ? limits : { ...limits, openFiles: Math.max(openFiles, BWRAP_FILES) };
}

export class UtilLinux {
  readonly #programs = {
    setpriv: required('setpriv'),
    unshare: required('unshare'),
    mount: required('mount'),
    sh: required('sh'),
  };
  readonly #perl = findProgram('perl');

  line(around: LaunchPlan): string[] {
    const { command, cwd, emptyCwd, overlay, uid, closedDirectories, isFence, limits = {} } = around;
    const { setpriv, unshare, mount, sh } = this.#programs;
    if (isFence && this.#perl === undefined)
      throw new BosunError('system', 'open files cannot be kept from commands: install perl or a C compiler');
    const from = overlay && directoryOfAll(layersOf(overlay));
    const script = (text: string, ...args: string[]): string[] => [sh, '-c', text, 'sh', ...args];
    const words = (program: string, options: string): string[] => [program, ...options.split(' ')];
    const withoutCaps = words(setpriv, '--inh-caps=-all --ambient-caps=-all --');
    const isShadowed = uid !== undefined && closedDirectories.length > 0;
    return [
      ...words(setpriv, '--pdeathsig KILL --'),
      ...(this.#perl === undefined ? [] : [this.#perl, '-e', CLOSE, isFence ? '5' : '3']),
      ...(isShadowed
        ? [
            ...words(unshare, '--mount --propagation private --'),
            ...script(
              SHADOW,
              mount,
              ...closedDirectories.map(({ path, isKept }) => (isKept ? `r${path}` : `s${path}`)),
              '--',
            ),
          ]
        : []),
      ...(uid === undefined
        ? []
        : words(setpriv, `--reuid ${uid} --regid ${uid} --clear-groups --pdeathsig KILL --`)),
      ...words(unshare, '--user --map-current-user --keep-caps --mount --'),
      ...(from === undefined ? [] : script(OVERLAY, mount, from, mountOptions(overlay!, from), overlay!.at)),
      ...(isFence
        ? [
            ...words(unshare, '--pid --fork --kill-child=KILL --mount-proc --'),
            ...script(FENCE),
            ...withoutCaps,
            ...prlimitArgv(forBwrap(limits)),
          ]
        : [
            ...words(unshare, '--pid --fork --kill-child=KILL --mount-proc --'),
            ...script(INIT, mount, emptyCwd ? 'empty' : '', cwd),
            ...withoutCaps,
          ]),
      ...command,
    ];
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

function layersOf({ lowers, upper, work }: OverlayMount): string[] {
  return [...lowers, upper, work];
}

function required(name: string): string {
  const file = findProgram(name);
  if (file !== undefined) return file;
  throw new BosunError('system', `${name} is missing: install the package util-linux`);
}
