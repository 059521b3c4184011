/**
 * Keys of model providers: found when first needed, kept in memory alone. A key never stands in a message, and
 * printing or serialising one of these objects shows where it comes from, not what it is.
 */
import { homedir } from 'node:os';
import path from 'node:path';
import { untilAborted } from '../../base/until-aborted.ts';
import { BosunError } from '../../contract/errors.ts';
import type { KeySource } from '../../contract/key-source.ts';
import { capture } from '../../system/process/process.ts';
import { readPrivateFile } from './private-file.ts';

/** What agents are given as their key; it opens nothing, and is never sent to a provider. */
export const PLACEHOLDER_KEY = 'bosun-placeholder';

/** The header that carries a key; `bearer` is `authorization: Bearer …`. */
export type KeyHeader = 'bearer' | 'x-api-key' | 'x-goog-api-key';

const COMMAND_MS = 30_000;
const KEY_BYTES_MAX = 16 * 1024;
const KEY_FILE = {
  what: 'key file',
  bytesMax: KEY_BYTES_MAX,
  remedy: 'create it with mode 600, or correct the path',
};
/** A command that failed may have asked a person: it is not run again for every request. */
const FAILURE_KEPT_MS = 30_000;
/** A key younger than this that is not accepted is wrong, not expired. */
const FRESH_MS = 60_000;

/** What opens a provider, wherever it comes from. */
export interface Secret {
  /** For people, such as "variable ANTHROPIC_API_KEY". */
  readonly how: string;
  readonly header: KeyHeader;
  /** As far as can be told without running or reading anything. */
  readonly isThere: boolean;
  /** Throws a BosunError where there is none; after the signal, its reason. */
  read(signal?: AbortSignal): Promise<string>;
  /** After a refusal: whether another look may give another one, as with tokens that expire. */
  forget(): boolean;
}

export interface KeyOptions {
  env?: NodeJS.ProcessEnv;
  nowMs?: () => number;
  commandMs?: number;
}

interface Found {
  value: Promise<string>;
  atMs: number;
  isThere: boolean;
  hasFailed: boolean;
}

export class ProviderKey implements Secret {
  readonly how: string;
  readonly header: KeyHeader;
  readonly #source: KeySource;
  readonly #env: NodeJS.ProcessEnv;
  readonly #nowMs: () => number;
  readonly #commandMs: number;
  #found: Found | undefined;

  constructor(source: KeySource, header: KeyHeader, options: KeyOptions = {}) {
    const { env = process.env, nowMs = Date.now, commandMs = COMMAND_MS } = options;
    this.how = describe(source);
    this.header = header;
    this.#source = source;
    this.#env = env;
    this.#nowMs = nowMs;
    this.#commandMs = commandMs;
  }

  get isThere(): boolean {
    return !('env' in this.#source) || (this.#env[this.#source.env] ?? '').trim() !== '';
  }

  /** Everybody who asks meanwhile waits for the same answer, which nobody's signal takes from the others. */
  read(signal?: AbortSignal): Promise<string> {
    const found = this.#found;
    const isKept = found && !(found.hasFailed && this.#nowMs() - found.atMs > FAILURE_KEPT_MS);
    const { value, isThere } = isKept ? found : this.#look();
    return signal && !isThere ? untilAborted(() => value, signal) : value;
  }

  #look(): Found {
    const entry = { value: this.#find(), atMs: this.#nowMs(), isThere: false, hasFailed: false };
    entry.value.then(
      () => (entry.isThere = true),
      () => (entry.hasFailed = true),
    );
    this.#found = entry;
    return entry;
  }

  forget(): boolean {
    if ('env' in this.#source) return false;
    if (this.#found && this.#nowMs() - this.#found.atMs >= FRESH_MS) this.#found = undefined;
    return this.#found === undefined;
  }

  async #find(): Promise<string> {
    const source = this.#source;
    const text =
      'env' in source
        ? (this.#env[source.env] ?? '')
        : 'file' in source
          ? await readPrivateFile({ file: expand(source.file), ...KEY_FILE })
          : await runKeyCommand(source.command, this.#commandMs);
    const key = text.trim();
    const objection = objectionTo(key);
    if (objection) throw noKey(`the key from ${this.how} ${objection}`);
    return key;
  }

  toJSON(): string {
    return `key from ${this.how}`;
  }
}

function describe(source: KeySource): string {
  if ('env' in source) return `variable ${source.env}`;
  if ('file' in source) return `file ${source.file}`;
  // Arguments may name accounts; the program alone says enough.
  const program = Array.isArray(source.command) ? source.command[0] : source.command.trim().split(/\s/)[0];
  return `command ${program}`;
}

export function objectionTo(key: string): string | undefined {
  if (key === '') return 'is empty; set it there';
  if (key === PLACEHOLDER_KEY) return 'is the placeholder that agents get; set the real one there';
  if (key.length > KEY_BYTES_MAX) return `is longer than ${KEY_BYTES_MAX} bytes; only the key must be there`;
  if (!/^[\x21-\x7e]+$/.test(key))
    return 'has spaces, line breaks or special characters in it; only the key must be there';
  return undefined;
}

/** Its output, also of errors, stays here: nobody knows what it prints. */
async function runKeyCommand(command: string | string[], timeoutMs: number): Promise<string> {
  const argv = Array.isArray(command) ? command : ['sh', '-c', command];
  const how = describe({ command });
  const timeout = AbortSignal.timeout(timeoutMs);
  // What the command has started may keep its output open after the command itself was ended.
  const late = new Promise<never>((_, reject) => {
    timeout.addEventListener(
      'abort',
      () =>
        reject(noKey(`the ${how} for a key gave none within ${timeoutMs} ms; run it yourself to see why`)),
      { once: true },
    );
  });
  late.catch(() => {});
  const { code, stdout } = await Promise.race([capture(argv, { signal: timeout }), late]);
  if (code !== 0)
    throw noKey(`the ${how} for a key ended with exit code ${code}; run it yourself to see why`);
  return stdout.toString();
}

function expand(file: string): string {
  return file.startsWith('~/') ? path.join(homedir(), file.slice(2)) : file;
}

function noKey(message: string): BosunError {
  return new BosunError('usage', message);
}
