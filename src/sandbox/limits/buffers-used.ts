/**
 * How much memory the pipes and sockets of one sandbox may hold, which is on no process's account. The kernel does not
 * say what is in them: a pipe and a unix socket count as full, beyond a few; TCP and UDP by what the whole machine holds.
 * With the sizes that the filter of system calls leaves them. It never changes anything.
 */
import { readFileSync, readlinkSync, statSync, type Stats } from 'node:fs';
import { namesIn } from '../../system/files/names-in.ts';
import { filesUnderWay, openDescriptors, type Descriptors } from './held-files.ts';

export interface Buffers {
  readonly leastBytes: number;
  readonly mostBytes: number;
  /** Narrows the two, as far as time allows. */
  look(isTimeUp: () => boolean): void;
}

/** So much for nothing, or this part of the limit: what ordinary programs have of them holds next to nothing. */
const FREE_BYTES = 32 * 1024 ** 2;
const FREE_SHARE = 1 / 8;
const PIPE_BYTES = 64 * 1024;
/** Of each further pipe, once all pipes of a user have taken what fs.pipe-user-pages-soft says. */
const PIPE_BYTES_MIN = 8 * 1024;
const PAGE_BYTES = 4096;
/** How long a count of pipes stands for those of a process that has no more descriptors than then. */
const COUNT_FOR_MS = 1000;
/** How long one that is not through waits to be gone on with: what it saw may be closed by then. */
const UNFINISHED_MS_MAX = 5000;

export class BufferCount implements Buffers, Disposable {
  readonly #initPid: number;
  readonly #freeBytes: number;
  readonly #unixBytesEach: number;
  readonly #inetBytesEach: number;
  readonly #softBytes: number;
  #hasOwnNetwork: boolean | undefined;
  #pids: readonly number[] = [];
  #nowMs = 0;
  #sockets = { unix: 0, inet: 0, inetBytesMax: 0 };
  #descriptors = 0;
  #counted: { pipes: number; descriptors: number; atMs: number } | undefined;
  #counting: PipeCount | undefined;
  /** What TCP and UDP take is known as well as it can be. */
  #isInetKnown = false;

  constructor(initPid: number, limitBytes: number) {
    this.#initPid = initPid;
    this.#freeBytes = Math.max(FREE_BYTES, limitBytes * FREE_SHARE);
    // A socket takes what comes until it is full: the last message may be as large again.
    this.#unixBytesEach = 2 * setting('net/core/wmem_default', 0, 212_992) + 32 * 1024;
    this.#inetBytesEach = setting('net/ipv4/tcp_rmem', 2, 6 << 20) + setting('net/ipv4/tcp_wmem', 2, 4 << 20);
    this.#softBytes = setting('fs/pipe-user-pages-soft', 0, 16_384) * PAGE_BYTES || Infinity;
  }

  /** To be called before each use. */
  refresh(pids: readonly number[], nowMs: number): this {
    this.#pids = pids;
    this.#nowMs = nowMs;
    this.#isInetKnown = false;
    this.#descriptors = pids.reduce((sum, pid) => sum + descriptorsOf(pid), 0);
    this.#hasOwnNetwork ??= networkOf(this.#initPid) !== networkOf('self');
    if (this.#hasOwnNetwork) this.#sockets = socketsOf(this.#initPid, this.#inetBytesEach);
    if (this.#counted && nowMs - this.#counted.atMs > COUNT_FOR_MS) this.#counted = undefined;
    if (this.#counting && nowMs - this.#counting.atMs > UNFINISHED_MS_MAX) this.#breakOff();
    return this;
  }

  get leastBytes(): number {
    const pipes = Math.max(this.#stillOpen(this.#counted), this.#stillOpen(this.#counting));
    const inetBytes = this.#isInetKnown ? this.#sockets.inetBytesMax : 0;
    return this.#beyondFree(this.#unixBytes() + this.#pipesBytes(pipes) + inetBytes);
  }

  get mostBytes(): number {
    const { pipes, descriptors } = this.#counted ?? { pipes: 0, descriptors: 0 };
    const mostPipes = pipes + Math.max(0, this.#descriptors - descriptors);
    return this.#beyondFree(this.#unixBytes() + this.#pipesBytes(mostPipes) + this.#sockets.inetBytesMax);
  }

  look(isTimeUp: () => boolean): void {
    if (this.#sockets.inet > 0) {
      const busy = busySockets(this.#initPid);
      this.#sockets.inetBytesMax = Math.min(this.#sockets.inetBytesMax, busy * this.#inetBytesEach);
    }
    this.#isInetKnown = true;
    if (this.#counted !== undefined && this.#counted.descriptors >= this.#descriptors) return;
    this.#counting ??= {
      pids: [...this.#pids],
      listed: undefined,
      descriptors: this.#descriptors,
      seen: new Set(),
      pipes: 0,
      atMs: this.#nowMs,
    };
    this.#counting.atMs = this.#nowMs;
    if (!countPipes(this.#counting, isTimeUp)) return;
    const { pipes, descriptors } = this.#counting;
    this.#counted = { pipes, descriptors, atMs: this.#nowMs };
    this.#counting = undefined;
  }

  /** What is still open of it at least: each descriptor that was closed since may have been that of a pipe. */
  #stillOpen(count: Pick<PipeCount, 'pipes' | 'descriptors'> | undefined): number {
    if (count === undefined) return 0;
    return Math.max(0, count.pipes - Math.max(0, count.descriptors - this.#descriptors));
  }

  [Symbol.dispose](): void {
    this.#breakOff();
  }

  #breakOff(): void {
    this.#counting?.listed?.descriptors[Symbol.dispose]();
    this.#counting = undefined;
  }

  #beyondFree(bytes: number): number {
    return Math.max(0, bytes - this.#freeBytes);
  }

  #unixBytes(): number {
    return this.#sockets.unix * this.#unixBytesEach;
  }

  #pipesBytes(pipes: number): number {
    return Math.min(pipes * PIPE_BYTES, this.#softBytes + pipes * PIPE_BYTES_MIN);
  }
}

interface PipeCount {
  /** Whose descriptors are not listed yet, and who is being listed: that may take several looks. */
  pids: number[];
  listed: { pid: number; descriptors: Descriptors } | undefined;
  descriptors: number;
  seen: Set<string>;
  pipes: number;
  /** When it last went on. */
  atMs: number;
}

/** Whether it came to its end. A process that cannot be looked into has nothing but pipes. */
function countPipes(count: PipeCount, isTimeUp: () => boolean): boolean {
  for (;;) {
    if (isTimeUp()) return false;
    if (count.listed === undefined) {
      const pid = count.pids.pop();
      if (pid === undefined) return true;
      count.listed = { pid, descriptors: openDescriptors(pid) };
      if (count.listed.descriptors.isHidden) count.pipes += descriptorsOf(pid);
    }
    const { pid, descriptors } = count.listed;
    const name = descriptors.next();
    if (name !== undefined) count.pipes += pipesAt(pid, name, count.seen);
    else {
      descriptors[Symbol.dispose]();
      count.listed = undefined;
    }
  }
}

/** One for a pipe that was not seen before; for a socket, what it may be that is on its way through it. */
function pipesAt(pid: number, name: string, seen: Set<string>): number {
  const stat = statOf(`/proc/${pid}/fd/${name}`);
  if (stat?.isSocket()) return filesUnderWay(`/proc/${pid}/fdinfo/${name}`);
  if (!stat?.isFIFO() || seen.has(`${stat.dev}:${stat.ino}`)) return 0;
  seen.add(`${stat.dev}:${stat.ino}`);
  return 1;
}

/** Since Linux 6.2 the size of the directory; before, there is no way but to read it. */
function descriptorsOf(pid: number): number {
  const directory = `/proc/${pid}/fd`;
  return statOf(directory)?.size || namesIn(directory).length;
}

function statOf(file: string): Stats | undefined {
  try {
    return statSync(file);
  } catch {
    return undefined; // closed, or gone
  }
}

/** Of a network of its own, also of sockets that no process has at the moment. */
function socketsOf(pid: number, inetBytesEach: number): { unix: number; inet: number; inetBytesMax: number } {
  const text = `${textOf(`/proc/${pid}/net/sockstat`)}\n${textOf(`/proc/${pid}/net/sockstat6`)}`;
  const figure = (line: string, name: string): number =>
    Number(new RegExp(`^${line}:.*\\b${name} (\\d+)`, 'm').exec(text)?.[1] ?? 0);
  const inet = ['TCP', 'TCP6', 'UDP', 'UDP6'].reduce((sum, line) => sum + figure(line, 'inuse'), 0);
  // What TCP and UDP take the kernel counts for the whole machine.
  const allBytes = (figure('TCP', 'mem') + figure('UDP', 'mem')) * PAGE_BYTES;
  return {
    unix: Math.max(0, figure('sockets', 'used') - inet),
    inet,
    inetBytesMax: Math.min(inet * inetBytesEach, allBytes),
  };
}

/** Those with something in them. */
function busySockets(pid: number): number {
  let count = 0;
  for (const name of ['tcp', 'tcp6', 'udp', 'udp6']) {
    for (const line of textOf(`/proc/${pid}/net/${name}`).split('\n').slice(1)) {
      const queues = line.trim().split(/\s+/)[4];
      if (queues !== undefined && /[1-9A-F]/.test(queues)) count += 1;
    }
  }
  return count;
}

function networkOf(pid: number | 'self'): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/net`);
  } catch {
    return undefined; // it is gone
  }
}

function setting(name: string, index: number, otherwise: number): number {
  const value = Number(textOf(`/proc/sys/${name}`).trim().split(/\s+/)[index] || Number.NaN);
  return Number.isFinite(value) ? value : otherwise;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}
