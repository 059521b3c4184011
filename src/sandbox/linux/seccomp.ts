/**
 * Writes the filter of system calls that a fenced command runs behind, as the classic BPF program that the kernel
 * and `bwrap --seccomp` take. It only writes the program; it never installs it.
 *
 * A denied call fails with EPERM, as if the privilege were missing. ENOSYS goes to calls that libraries can do
 * without, and to those newer than the table. What would take memory or disk that nobody could count is refused as a
 * small machine refuses it: EINVAL for a segment that is too large, ENOSPC for such an attribute of a file, EOPNOTSUPP
 * for space that is taken ahead. A wish for larger buffers of a socket is passed over, as the kernel itself passes
 * over what is beyond its limits, and so is that of a process not to be looked into.
 * ptrace and its like are allowed: debuggers need them, and only the command's own pid namespace is in reach.
 */
import { ABSENT, DENIED, EXAMINED, UNKNOWN_FROM, type Architecture } from './denied-calls.ts';

/** Of an instruction: load a word; jump if equal, greater or equal, any bit set; return. */
const [LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN] = [0x20, 0x15, 0x35, 0x45, 0x06];
/** Where the kernel puts what a filter looks at. Of arguments the low half: most of those looked at are int. */
const [NUMBER, ARCHITECTURE] = [0, 4];
const argument = (index: number): number => 16 + 8 * index;

const AUDIT_ARCHITECTURE: Record<Architecture, number> = { x64: 0xc000003e, arm64: 0xc00000b7 };
const RETURNED = {
  allow: 0x7fff0000,
  deny: 0x00050001,
  absent: 0x00050026,
  tooLarge: 0x00050016,
  noRoom: 0x0005001c,
  unsupported: 0x0005005f,
  /** It seems to have worked. */
  ignored: 0x00050000,
  kill: 0x80000000,
};

/** All CLONE_NEW* flags that clone knows. */
const NEW_SPACES = 0x7e020000;
/** CLONE_THREAD and CLONE_FILES: a thread with descriptors of its own could hold files that no watch would find. */
const [THREAD, FILES] = [0x00010000, 0x00000400];
/** CLONE_FS and CLONE_SYSVSEM; whatever else unshare can be asked for is a namespace, or hides descriptors. */
const HARMLESS_UNSHARE = 0x00040200;
const CLOSE_RANGE_UNSHARE = 2;
/**
 * The kernel allows 4,096 segments of shared memory and 32,000 sets of semaphores, and none is on the account of a
 * process: with these sizes all of them together take some 64 MB. PostgreSQL, for one, needs a segment of 56 bytes.
 */
const SEGMENT_BYTES_MAX = 16 * 1024;
const SEMAPHORES_MAX = 32;
/** Of a file in memory, nobody counts them: an access list could have 64 KB. File systems have limits of their own, too. */
const ATTRIBUTE_BYTES_MAX = 256;
/** PR_SET_DUMPABLE with 0 would keep an ordinary user's engine from seeing what a process holds. */
const SET_DUMPABLE = 4;
/** FALLOC_FL_PUNCH_HOLE gives space back; all else takes it, all of the disk at once where it is asked to. */
const PUNCH_HOLE = 2;
const SETUID = 0o4000;
/** O_CREAT and O_TMPFILE: without them, what stands in the place of a mode is none. */
const CREATES = 0x400040;
const QUERY_PERSONALITY = 0xffffffff;
const [UNIX, INET, NETLINK, INET6] = [1, 2, 16, 10];
/** The netlink protocol that lists interfaces and routes. */
const NETLINK_ROUTE = 0;
const [TIOCSTI, TIOCLINUX] = [0x5412, 0x541c];
/** What pipes and sockets hold is on nobody's account: they keep the sizes that buffers-used.ts counts with. */
const SET_PIPE_SIZE = 1031;
const [SOCKET_LEVEL, SEND_BUFFER, RECEIVE_BUFFER] = [1, 7, 8];

type Verdict = keyof typeof RETURNED;
/** An address in the program, by name. */
type Label =
  | Verdict
  | 'clone'
  | 'unshare'
  | 'personality'
  | 'socket'
  | 'ioctl'
  | 'fcntl'
  | 'socketOption'
  | 'process'
  | 'attribute'
  | 'segment'
  | 'semaphores'
  | 'space'
  | 'close'
  | 'open'
  | 'openAt'
  | 'mode'
  | 'modeAt'
  | 'modeLast';

const DECIDED_BY: Record<keyof typeof EXAMINED, Label> = {
  clone: 'clone',
  unshare: 'unshare',
  personality: 'personality',
  socket: 'socket',
  socketpair: 'socket',
  ioctl: 'ioctl',
  fcntl: 'fcntl',
  setsockopt: 'socketOption',
  prctl: 'process',
  setxattr: 'attribute',
  lsetxattr: 'attribute',
  fsetxattr: 'attribute',
  shmget: 'segment',
  semget: 'semaphores',
  fallocate: 'space',
  close_range: 'close',
  open: 'open',
  openat: 'openAt',
  creat: 'mode',
  mknod: 'mode',
  mknodat: 'modeAt',
  chmod: 'mode',
  fchmod: 'mode',
  fchmodat: 'modeAt',
  fchmodat2: 'modeAt',
};

interface Instruction {
  code: number;
  value: number;
  /** Where a jump leads; on to the next instruction where not given. */
  yes?: Label;
  no?: Label;
}

/** Undefined for an architecture whose numbers the table does not have. */
export function callFilter(architecture: NodeJS.Architecture = process.arch): Buffer | undefined {
  if (architecture !== 'x64' && architecture !== 'arm64') return undefined;
  const labels = new Map<Label, number>();
  const program: Instruction[] = [
    { code: LOAD, value: ARCHITECTURE },
    { code: EQUAL, value: AUDIT_ARCHITECTURE[architecture], no: 'kill' },
    { code: LOAD, value: NUMBER },
    ...byNumber(architecture),
  ];
  for (const [label, block] of blocks()) {
    labels.set(label, program.length);
    program.push(...block);
  }
  return encode(program, labels);
}

/** Leads each number to what decides on it: one comparison for each end of a range, the lowest first. */
function byNumber(architecture: Architecture): Instruction[] {
  const decided = labelsByNumber(architecture);
  const program: Instruction[] = [];
  let current: Label = 'allow';
  for (let number = 0; number <= UNKNOWN_FROM; number += 1) {
    const next = number === UNKNOWN_FROM ? 'absent' : (decided.get(number) ?? 'allow');
    if (next === current) continue;
    program.push({ code: AT_LEAST, value: number, no: current });
    current = next;
  }
  return [...program, { code: RETURN, value: RETURNED.absent }];
}

function labelsByNumber(architecture: Architecture): Map<number, Label> {
  const at = architecture === 'x64' ? 0 : 1;
  const labels = new Map<number, Label>();
  const decided: [readonly (number | null)[], Label][] = [
    ...Object.values(DENIED).map((numbers): [typeof numbers, Label] => [numbers, 'deny']),
    ...Object.values(ABSENT).map((numbers): [typeof numbers, Label] => [numbers, 'absent']),
    ...Object.entries(DECIDED_BY).map(([name, label]): [readonly (number | null)[], Label] => [
      EXAMINED[name as keyof typeof EXAMINED],
      label,
    ]),
  ];
  for (const [numbers, label] of decided) if (numbers[at] != null) labels.set(numbers[at], label);
  return labels;
}

function blocks(): [Label, Instruction[]][] {
  const load = (index: number): Instruction => ({ code: LOAD, value: argument(index) });
  const high = (index: number): Instruction => ({ code: LOAD, value: argument(index) + 4 });
  const verdict = (name: Verdict): [Label, Instruction[]] => [
    name,
    [{ code: RETURN, value: RETURNED[name] }],
  ];
  return [
    [
      'clone',
      [
        load(0),
        { code: ANY_BIT, value: NEW_SPACES, yes: 'deny' },
        { code: ANY_BIT, value: THREAD, no: 'allow' },
        { code: ANY_BIT, value: FILES, yes: 'allow', no: 'deny' },
      ],
    ],
    ['unshare', [load(0), { code: ANY_BIT, value: ~HARMLESS_UNSHARE >>> 0, yes: 'deny', no: 'allow' }]],
    [
      'personality',
      [
        load(0),
        { code: EQUAL, value: 0, yes: 'allow' },
        { code: EQUAL, value: QUERY_PERSONALITY, yes: 'allow', no: 'deny' },
      ],
    ],
    [
      'socket',
      [
        load(0),
        ...[UNIX, INET, INET6].map((family) => ({ code: EQUAL, value: family, yes: 'allow' as const })),
        { code: EQUAL, value: NETLINK, no: 'deny' },
        load(2),
        { code: EQUAL, value: NETLINK_ROUTE, yes: 'allow', no: 'deny' },
      ],
    ],
    [
      'ioctl',
      [
        load(1),
        { code: EQUAL, value: TIOCSTI, yes: 'deny' },
        { code: EQUAL, value: TIOCLINUX, yes: 'deny', no: 'allow' },
      ],
    ],
    ['fcntl', [load(1), { code: EQUAL, value: SET_PIPE_SIZE, yes: 'deny', no: 'allow' }]],
    [
      'socketOption',
      [
        load(1),
        { code: EQUAL, value: SOCKET_LEVEL, no: 'allow' },
        load(2),
        { code: EQUAL, value: SEND_BUFFER, yes: 'ignored' },
        { code: EQUAL, value: RECEIVE_BUFFER, yes: 'ignored', no: 'allow' },
      ],
    ],
    // Whoever asks for it (ssh-agent, gpg-agent) would not go on without.
    [
      'process',
      [
        load(0),
        { code: EQUAL, value: SET_DUMPABLE, no: 'allow' },
        load(1),
        { code: EQUAL, value: 0, yes: 'ignored', no: 'allow' },
      ],
    ],
    // The kernel itself refuses what has a high half.
    ['attribute', [load(3), { code: AT_LEAST, value: ATTRIBUTE_BYTES_MAX + 1, yes: 'noRoom', no: 'allow' }]],
    // Of a size the high half is looked at too: it is no int.
    [
      'segment',
      [
        high(1),
        { code: EQUAL, value: 0, no: 'tooLarge' },
        load(1),
        { code: AT_LEAST, value: SEGMENT_BYTES_MAX + 1, yes: 'tooLarge', no: 'allow' },
      ],
    ],
    ['semaphores', [load(1), { code: AT_LEAST, value: SEMAPHORES_MAX + 1, yes: 'tooLarge', no: 'allow' }]],
    ['space', [load(1), { code: ANY_BIT, value: PUNCH_HOLE, yes: 'allow', no: 'unsupported' }]],
    ['close', [load(2), { code: ANY_BIT, value: CLOSE_RANGE_UNSHARE, yes: 'absent', no: 'allow' }]],
    ['open', [load(1), { code: ANY_BIT, value: CREATES, yes: 'modeAt', no: 'allow' }]],
    ['openAt', [load(2), { code: ANY_BIT, value: CREATES, yes: 'modeLast', no: 'allow' }]],
    ['mode', [load(1), { code: ANY_BIT, value: SETUID, yes: 'deny', no: 'allow' }]],
    ['modeAt', [load(2), { code: ANY_BIT, value: SETUID, yes: 'deny', no: 'allow' }]],
    ['modeLast', [load(3), { code: ANY_BIT, value: SETUID, yes: 'deny', no: 'allow' }]],
    verdict('allow'),
    verdict('deny'),
    verdict('absent'),
    verdict('tooLarge'),
    verdict('noRoom'),
    verdict('unsupported'),
    verdict('ignored'),
    verdict('kill'),
  ];
}

const INSTRUCTION_BYTES = 8;
const JUMP_MAX = 255;

/** Jumps are relative, forwards, and one byte long. */
function encode(program: Instruction[], labels: Map<Label, number>): Buffer {
  const bytes = Buffer.alloc(program.length * INSTRUCTION_BYTES);
  const jump = (from: number, to: Label | undefined): number => {
    const distance = to === undefined ? 0 : labels.get(to)! - from - 1;
    if (!(distance >= 0 && distance <= JUMP_MAX)) throw new RangeError(`no jump from ${from} to ${to}`);
    return distance;
  };
  program.forEach(({ code, value, yes, no }, index) => {
    const at = index * INSTRUCTION_BYTES;
    bytes.writeUInt16LE(code, at);
    bytes.writeUInt8(jump(index, yes), at + 2);
    bytes.writeUInt8(jump(index, no), at + 3);
    bytes.writeUInt32LE(value, at + 4);
  });
  return bytes;
}
