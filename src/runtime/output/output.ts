/** What a process prints, cut into pieces that can be recorded: bounded in size, in number and in total. */
import type { Readable } from 'node:stream';

const PIECE_BYTES_MAX = 64 * 1024;
/** Of what prints all the time; what prints now and then is told sooner, since somebody may be looking. */
const FLUSH_MS = 100;
const QUIET_MS = 50;
const SOON_MS = 5;
const TAIL_BYTES = 16 * 1024;
export const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;
export const RUN_OUTPUT_BYTES_MAX = 256 * 1024 * 1024;

/** What all attempts of a run may print and tell before only their ends are kept. */
export interface RunOutput {
  leftBytes: number;
}

export interface Piece {
  stream: 'stdout' | 'stderr' | 'check' | 'setup';
  text?: string;
  /** Where the bytes are no UTF-8. */
  base64?: string;
  /** How much was left out before this piece. */
  droppedBytes?: number;
  /** It was left out because of what the whole run has printed. */
  dropped?: 'run';
}

/** Takes the output of one attempt. Keeps its beginning up to the limit, and its end in any case. */
export class OutputSink {
  readonly #emit: (piece: Piece) => void;
  readonly #run: RunOutput;
  #leftBytes: number;

  constructor(
    emit: (piece: Piece) => void,
    bytesMax = OUTPUT_BYTES_MAX,
    run: RunOutput = { leftBytes: Infinity },
  ) {
    this.#emit = emit;
    this.#run = run;
    this.#leftBytes = bytesMax;
  }

  /** Reads a stream to its end; resolves with the last of it as text. */
  async read(stream: Readable, name: Piece['stream']): Promise<string> {
    let waiting: Buffer = Buffer.alloc(0);
    let tail: Buffer = Buffer.alloc(0);
    let dropped: Buffer = Buffer.alloc(0);
    let droppedBytes = 0;
    let timer: NodeJS.Timeout | undefined;
    let flushedAtMs = -Infinity;

    const flush = (all: boolean): void => {
      timer = undefined;
      flushedAtMs = performance.now();
      while (waiting.length > 0) {
        const length = cutAt(waiting, all);
        if (length === 0) break;
        this.#emit({ stream: name, ...asText(waiting.subarray(0, length)) });
        waiting = waiting.subarray(length);
      }
    };
    const finish = (): void => {
      clearTimeout(timer);
      flush(true);
      if (droppedBytes > 0) {
        const end = dropped.subarray(Math.max(0, dropped.length - TAIL_BYTES));
        const leftOut = droppedBytes - end.length;
        const because = this.#leftBytes > 0 && { dropped: 'run' as const };
        this.#emit({
          stream: name,
          ...asText(end),
          ...(leftOut > 0 && { droppedBytes: leftOut, ...because }),
        });
        droppedBytes = 0;
      }
    };
    stream.on('data', (chunk: Buffer) => {
      tail = lastOf(tail, chunk);
      const kept = chunk.subarray(0, Math.max(0, Math.min(this.#leftBytes, this.#run.leftBytes)));
      this.#leftBytes -= kept.length;
      this.#run.leftBytes -= kept.length;
      if (kept.length < chunk.length) {
        const rest = chunk.subarray(kept.length);
        droppedBytes += rest.length;
        dropped = lastOf(dropped, rest);
      }
      if (kept.length === 0) return;
      waiting = waiting.length === 0 ? kept : Buffer.concat([waiting, kept]);
      if (waiting.length >= PIECE_BYTES_MAX) flush(false);
      else timer ??= setTimeout(flush, waitMs(performance.now() - flushedAtMs), false);
    });
    // A pipe that breaks has ended, too.
    await new Promise<void>((resolve) => stream.on('error', () => resolve()).once('close', () => resolve()));
    finish();
    return tail.subarray(Math.max(0, tail.length - TAIL_BYTES)).toString();
  }
}

function waitMs(quietMs: number): number {
  return quietMs >= QUIET_MS ? SOON_MS : FLUSH_MS - quietMs;
}

function lastOf(before: Buffer, chunk: Buffer): Buffer {
  if (before.length + chunk.length <= 2 * TAIL_BYTES) return Buffer.concat([before, chunk]);
  return Buffer.concat([before, chunk]).subarray(-TAIL_BYTES);
}

/** Whole lines where there are any; never through the middle of a character. */
function cutAt(bytes: Buffer, all: boolean): number {
  const most = bytes.subarray(0, PIECE_BYTES_MAX);
  if (all && most.length === bytes.length) return bytes.length;
  const newline = most.lastIndexOf(0x0a);
  if (newline >= 0) return newline + 1;
  if (most.length < PIECE_BYTES_MAX) return 0;
  // The byte after the cut must not go on a character that the cut would split.
  let end = most.length;
  while (end > most.length - 4 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return end;
}

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function asText(bytes: Buffer): { text: string } | { base64: string } {
  try {
    return { text: strict.decode(bytes) };
  } catch {
    return { base64: bytes.toString('base64') };
  }
}
