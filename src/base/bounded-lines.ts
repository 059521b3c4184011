/**
 * Cuts bytes into lines as they come, and keeps no more of a line than it may have. It reads from nobody, and knows
 * nothing of what lines say.
 */
const LINE_FEED = 0x0a;
const NOTHING: Buffer = Buffer.alloc(0);

export interface BoundedLine {
  /** Without its line feed; the beginning where it was longer than it may be. */
  bytes: Buffer;
  isCut: boolean;
}

export class BoundedLines {
  readonly #bytesMax: number;
  /** What nobody has asked for yet. */
  #rest = NOTHING;
  /** Of the line whose end has not come: what is kept, and how long it is. */
  #kept: Buffer[] = [];
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** To be called with what has come, before `next` is asked until it has no more. */
  push(chunk: Buffer): void {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
  }

  /** The next line whose end has come. */
  next(): BoundedLine | undefined {
    if (this.#rest.length === 0) return undefined;
    const end = this.#rest.indexOf(LINE_FEED);
    this.#keep(end === -1 ? this.#rest : this.#rest.subarray(0, end));
    this.#rest = end === -1 ? NOTHING : this.#rest.subarray(end + 1);
    return end === -1 ? undefined : this.#cut();
  }

  /** The line that has no end, once no more comes. */
  last(): BoundedLine | undefined {
    return this.#bytes > 0 ? this.#cut() : undefined;
  }

  /** How the line begins whose end has not come; undefined where nothing of it has. */
  get beginning(): Buffer | undefined {
    return this.#kept[0];
  }

  /** The line whose end has not come is longer already than it may be. */
  get isTooLong(): boolean {
    return this.#bytes > this.#bytesMax;
  }

  #keep(piece: Buffer): void {
    const kept = piece.subarray(0, Math.max(0, this.#bytesMax - this.#bytes));
    if (kept.length > 0) this.#kept.push(kept);
    this.#bytes += piece.length;
  }

  #cut(): BoundedLine {
    const bytes = this.#kept.length === 1 ? this.#kept[0]! : Buffer.concat(this.#kept);
    const isCut = this.isTooLong;
    this.#kept = [];
    this.#bytes = 0;
    return { bytes, isCut };
  }
}
