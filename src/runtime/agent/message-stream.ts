/**
 * Lets through what an agent's program prints as one JSON object a line, each as a whole and none before it is known
 * that it is not too much to read: those who read them are libraries, which believe anything.
 */
import { Transform, type Readable } from 'node:stream';
import { shapeOf } from '../../base/parse-json.ts';

const LINE_BYTES_MAX = 8 * 1024 * 1024;
/** Some print a warning or two where only messages belong. */
const GARBAGE_LINES_MAX = 20;
const GARBAGE_CHARS_MAX = 2000;

export class MessageStream extends Transform {
  readonly #breakOff: (why: string) => void;
  #line: Buffer[] = [];
  #lineBytes = 0;
  #isMessage: boolean | undefined;
  #garbage = '';
  #garbageLines = 0;
  #hasBegun = false;

  /** `breakOff` is to end the program: what it printed cannot be read. */
  constructor(breakOff: (why: string) => void) {
    super();
    this.#breakOff = breakOff;
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** The first of what was no message. */
  get garbage(): string {
    return this.#garbage.trim();
  }

  readFrom(stdout: Readable): void {
    stdout.pipe(this);
    stdout.on('error', () => {});
    // A pipe that breaks has ended, too.
    stdout.once('close', () => this.end());
  }

  override _transform(chunk: Buffer, _encoding: string, done: () => void): void {
    let from = 0;
    for (let at = chunk.indexOf(0x0a); at >= 0; at = chunk.indexOf(0x0a, from)) {
      this.#add(chunk.subarray(from, at + 1));
      this.#endLine();
      from = at + 1;
    }
    this.#add(chunk.subarray(from));
    done();
  }

  override _flush(done: () => void): void {
    this.#endLine();
    done();
  }

  #add(piece: Buffer): void {
    if (piece.length === 0) return;
    this.#lineBytes += piece.length;
    this.#isMessage ??= piece[0] === 0x7b; // {
    if (this.#isMessage) {
      this.#hasBegun = true;
      if (this.#lineBytes <= LINE_BYTES_MAX) this.#line.push(piece);
      else if (this.#line.length > 0) {
        this.#line = [];
        this.#breakOff(`it printed a message of more than ${LINE_BYTES_MAX} bytes`);
      }
    } else if (this.#garbage.length < GARBAGE_CHARS_MAX)
      this.#garbage = `${this.#garbage}${piece.toString()}`.slice(0, GARBAGE_CHARS_MAX);
  }

  #endLine(): void {
    if (this.#line.length > 0) {
      const line = Buffer.concat(this.#line);
      if (!shapeOf(line.toString()).isTooMuch) this.push(line);
      else this.#breakOff('it printed a message that is nested too deep or has too many parts');
    } else if (this.#isMessage === false && this.#lineBytes > 1) {
      this.#garbageLines += 1;
      if (this.#garbageLines > GARBAGE_LINES_MAX) {
        this.#breakOff(`it printed something that is not a message of its protocol: ${this.garbage}`);
      }
    }
    this.#line = [];
    this.#lineBytes = 0;
    this.#isMessage = undefined;
  }
}
