/**
 * The hash of what a process printed, without what is chance in it, whatever the pieces it came in. It looks at one
 * block after another, so that a long output takes neither much memory nor much time at once.
 */
import { createHash } from 'node:crypto';

/** A block ends with a line where it can. Where it ends depends on what was printed, never on the pieces. */
const BLOCK_BYTES = 64 * 1024;
const LINE_END = 0x0a;

export class PrintedHash {
  readonly #hash = createHash('sha256');
  readonly #normal: { text(text: string): string };
  #waiting: Buffer[] = [];
  #waitingBytes = 0;

  /** `before`: the hash of what came before it. */
  constructor(before: string, normal: { text(text: string): string }) {
    this.#hash.update(before);
    this.#normal = normal;
  }

  add(piece: Buffer): void {
    this.#waiting.push(piece);
    this.#waitingBytes += piece.length;
    if (this.#waitingBytes <= BLOCK_BYTES) return; // what comes next says where the block ends
    let rest: Buffer = Buffer.concat(this.#waiting);
    while (rest.length > BLOCK_BYTES) {
      const bytes = blockOf(rest);
      this.#update(rest.subarray(0, bytes));
      rest = rest.subarray(bytes);
    }
    this.#waiting = [rest];
    this.#waitingBytes = rest.length;
  }

  digest(): string {
    this.#update(Buffer.concat(this.#waiting));
    return this.#hash.digest('hex');
  }

  #update(block: Buffer): void {
    this.#hash.update(this.#normal.text(block.toString()));
  }
}

function blockOf(bytes: Buffer): number {
  const end = bytes.subarray(0, BLOCK_BYTES).lastIndexOf(LINE_END) + 1;
  if (end > 0) return end;
  // Not through the middle of a character.
  let cut = BLOCK_BYTES;
  while (cut > BLOCK_BYTES - 4 && ((bytes[cut] ?? 0) & 0xc0) === 0x80) cut -= 1;
  return cut;
}
