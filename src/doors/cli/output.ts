/**
 * What goes to the terminal or the pipe: data on stdout, everything else on stderr. All that people read passes here, and
 * nothing in it that a terminal would act on, whoever wrote it, but our own colours.
 */
import { machineError } from '../../base/machine-failure.ts';
import { harmless } from '../../report/text/plain.ts';

export { painter, type Color, type Paint } from '../../report/text/paint.ts';

/** Whether stdout cannot be written any more; what is left to say is then said to nobody. */
let isOutGone = false;
let endsWithReader = true;
let outFailure: Error | undefined;

/**
 * A pipe that closes is no error: `bosun logs | head` ends quietly. A run goes on without its reader, and one whose
 * output cannot be stored says so once it has ended.
 */
export function guardStreams(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (isOutGone) return;
    isOutGone = true;
    const isReaderGone = error.code === 'EPIPE' || (error.code === 'EIO' && process.stdout.isTTY);
    if (!isReaderGone) outFailure = machineError(error, 'cannot write to stdout') ?? error;
    if (!endsWithReader) return;
    if (isReaderGone) process.exit(0);
    requireOut();
  });
}

/** Throws where some of the data could not be written. */
export function requireOut(): void {
  if (outFailure) throw outFailure;
}

/** What is under way matters more than who reads of it. */
export function outliveReader(): void {
  endsWithReader = false;
}

export function writeOut(text: string): void {
  if (!isOutGone) process.stdout.write(harmless(text));
}

/** An answer of an agent: as it is for a program, harmless for a terminal. */
export function writeData(text: string): void {
  if (!isOutGone) process.stdout.write(process.stdout.isTTY ? harmless(text) : text);
}

let isErrorGuarded = false;

/** Stderr, opened not before it is needed: that takes time. */
export function errorStream(): NodeJS.WriteStream {
  if (!isErrorGuarded) process.stderr.on('error', () => {}); // there is no one left to tell
  isErrorGuarded = true;
  return process.stderr;
}

export function writeError(text: string): void {
  errorStream().write(harmless(text));
}

/** Something for people, with who says it; a line that it brings along looks like no line of ours. */
export function say(text: string, who = 'bosun'): void {
  writeError(`${who}: ${text.trimEnd().replaceAll('\n', '\n  ')}\n`);
}

let isColorOff = false;

export function turnColorOff(): void {
  isColorOff = true;
}

/** Colours for a terminal only, and not where the user says no. */
export function hasColor(stream: NodeJS.WriteStream): boolean {
  if (isColorOff || (process.env.NO_COLOR ?? '') !== '' || process.env.TERM === 'dumb') return false;
  return stream.isTTY || (process.env.FORCE_COLOR ?? '0') !== '0';
}

const COLUMNS_ELSEWHERE = 100;

export function columnsOfStream(stream: NodeJS.WriteStream): number {
  return stream.isTTY ? stream.columns || COLUMNS_ELSEWHERE : COLUMNS_ELSEWHERE;
}

/** Whether somebody is there whom git and ssh can ask for a password. */
export function mayPrompt(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}
