/**
 * Lets through what an agent's program prints as one JSON object a line, each as a whole and none before it is known
 * that it is not too much to read: those who read them are libraries, which believe anything.
 */
import { Transform, type Readable, type Writable } from 'node:stream';
import { BoundedLines, type BoundedLine } from '../../base/bounded-lines.ts';
import { shapeOf } from '../../base/parse-json.ts';
import { TurnShare } from '../../base/turn-share.ts';

const LINE_BYTES_MAX = 8 * 1024 * 1024;
/** Some print a warning or two where only messages belong. */
const GARBAGE_LINES_MAX = 20;
const GARBAGE_CHARS_MAX = 2000;
/** For each few messages, while the answers to earlier ones are not read. */
const HOLD_MS_MAX = 1000;
const OPENING_BRACE = 0x7b;
const LINE_END = Buffer.from('\n');

export class MessageStream extends Transform {
  readonly #breakOff: (why: string) => void;
  readonly #answers: Writable;
  readonly #share = new TurnShare();
  readonly #lines = new BoundedLines(LINE_BYTES_MAX);
  #garbage = '';
  #garbageLines = 0;
  #hasBegun = false;
  #isOver = false;

  /**
   * `breakOff` is to end the program: what it printed cannot be read. Who does not read its `answers` is not heard
   * until it does.
   */
  constructor(breakOff: (why: string) => void, answers: Writable) {
    super();
    this.#answers = answers;
    this.#breakOff = (why) => {
      this.stop();
      breakOff(why);
    };
  }

  /** Nothing that comes now is heard any more. */
  stop(): void {
    this.#isOver = true;
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
    void this.#read(chunk).then(() => done());
  }

  /** A few a turn: those who read them do so in the same turn, however many there are. */
  async #read(chunk: Buffer): Promise<void> {
    if (this.#isOver) return;
    this.#lines.push(chunk);
    for (let line = this.#lines.next(); line; line = this.#lines.next()) {
      this.#take(line);
      const nextTurn = this.#share.take(line.bytes.length);
      if (nextTurn) {
        await nextTurn;
        await drained(this.#answers);
      }
      if (this.#isOver) return;
    }
    if (isMessage(this.#lines.beginning)) {
      this.#hasBegun = true;
      if (this.#lines.isTooLong) this.#tooLong();
    }
  }

  override _flush(done: () => void): void {
    const last = this.#isOver ? undefined : this.#lines.last();
    if (last) this.#take(last);
    done();
  }

  #take({ bytes, isCut }: BoundedLine): void {
    if (bytes.length === 0) return;
    if (!isMessage(bytes)) return this.#takeGarbage(bytes);
    this.#hasBegun = true;
    if (isCut) return this.#tooLong();
    if (shapeOf(bytes.toString()).isTooMuch)
      return this.#breakOff('it printed a message that is nested too deep or has too many parts');
    this.push(Buffer.concat([bytes, LINE_END]));
  }

  #takeGarbage(bytes: Buffer): void {
    const left = GARBAGE_CHARS_MAX - this.#garbage.length;
    if (left > 0) this.#garbage += `${bytes.subarray(0, left).toString()}\n`;
    this.#garbageLines += 1;
    if (this.#garbageLines > GARBAGE_LINES_MAX)
      this.#breakOff(`it printed something that is not a message of its protocol: ${this.garbage}`);
  }

  #tooLong(): void {
    this.#breakOff(`it printed a message of more than ${LINE_BYTES_MAX} bytes`);
  }
}

/** Also where nobody will take any of it. Not for ever: who prints in one go what it has reads nothing before that. */
async function drained(output: Writable): Promise<void> {
  if (!output.writableNeedDrain) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, HOLD_MS_MAX);
  output.on('drain', resolve).on('close', resolve);
  await promise;
  clearTimeout(timer);
  output.off('drain', resolve).off('close', resolve);
}

function isMessage(line: Buffer | undefined): boolean {
  return line?.[0] === OPENING_BRACE;
}
