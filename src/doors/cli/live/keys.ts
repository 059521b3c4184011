/** Reads single keys from a terminal. What is pasted is no key, since nobody means to answer with it: it is text for a line. */
import { StringDecoder } from 'node:string_decoder';

/** A key that prints is called by its character. */
export type Key = string;

const NAMES: Record<string, Key> = {
  '\u0003': 'ctrl-c',
  '\u001a': 'ctrl-z',
  '\r': 'enter',
  '\n': 'enter',
  '\u001b': 'escape',
  '\u007f': 'backspace',
  '\b': 'backspace',
  '\u0015': 'ctrl-u',
  '\u0017': 'ctrl-w',
  '\u001b[A': 'up',
  '\u001bOA': 'up',
  '\u001b[B': 'down',
  '\u001bOB': 'down',
  '\u001b[5~': 'page-up',
  '\u001b[6~': 'page-down',
};

/** Sequences of special keys, other controls one by one, and what prints as it comes. */
// oxlint-disable-next-line no-control-regex
const PARTS = /\x1b\[[0-?]*[ -/]*[@-~]|\x1bO[@-~]|[\x00-\x1f\x7f]|[^\x00-\x1f\x7f]+/g;
/** What may become the sequence of a special key. */
// oxlint-disable-next-line no-control-regex
const UNFINISHED = /\x1b(?:\[[0-?]*[ -/]*|O)?$/;
/** The rest of a sequence comes at once; what stands alone for longer is the key itself. */
const REST_MS = 50;

export type Keyboard = Pick<
  NodeJS.ReadStream,
  'setRawMode' | 'on' | 'off' | 'resume' | 'pause' | 'ref' | 'unref'
>;

export class Keys {
  readonly #keyboard: Keyboard;
  readonly #onKey: (key: Key) => void;
  readonly #onText: (text: string) => void;
  readonly #decoder = new StringDecoder('utf8');
  #rest = '';
  #waiting: NodeJS.Timeout | undefined;
  readonly #hear = (chunk: Buffer): void => this.#read(this.#decoder.write(chunk));

  /** `onText` gets several characters that came at once. */
  constructor(keyboard: Keyboard, onKey: (key: Key) => void, onText: (text: string) => void = () => {}) {
    this.#keyboard = keyboard;
    this.#onKey = onKey;
    this.#onText = onText;
    keyboard.ref();
    keyboard.setRawMode(true);
    keyboard.on('error', () => {}); // the terminal is gone, which a signal says too
    keyboard.on('data', this.#hear);
    keyboard.resume();
  }

  /** The terminal is somebody else's for a while: who reads from it in the background is stopped. */
  suspend(): void {
    this.#keyboard.pause();
    this.#keyboard.setRawMode(false);
  }

  resume(): void {
    this.#keyboard.setRawMode(true);
    this.#keyboard.resume();
  }

  /** `isOthers`: the terminal is somebody else's by now. */
  close(isOthers: boolean): void {
    clearTimeout(this.#waiting);
    this.#keyboard.off('data', this.#hear);
    if (!isOthers) this.#keyboard.setRawMode(false);
    this.#keyboard.pause();
    this.#keyboard.unref();
  }

  #read(text: string): void {
    clearTimeout(this.#waiting);
    const all = this.#rest + text;
    const at = UNFINISHED.exec(all)?.index ?? all.length;
    this.#rest = all.slice(at);
    const parts = [...all.slice(0, at).matchAll(PARTS)].map(([part]) => part);
    // The end of a line amid text was pasted with it, and sends nothing.
    const isText = (part = ''): boolean => /^[^\p{Cc}]/u.test(part);
    const isAmid = (n: number): boolean =>
      NAMES[parts[n]!] === 'enter' &&
      (parts[n - 1]?.length ?? 0) > 1 &&
      isText(parts[n - 1]) &&
      isText(parts[n + 1]);
    parts.forEach((part, n) => (isAmid(n) ? this.#onText(' ') : this.#press(part)));
    if (this.#rest === '') return;
    this.#waiting = setTimeout(() => {
      const [first] = this.#rest;
      this.#rest = '';
      this.#press(first!);
    }, REST_MS);
  }

  #press(part: string): void {
    const key = Object.hasOwn(NAMES, part) ? NAMES[part] : [...part].length === 1 ? part : undefined;
    if (key !== undefined) this.#onKey(key);
    else if (!part.startsWith('\u001b')) this.#onText(part);
  }
}
