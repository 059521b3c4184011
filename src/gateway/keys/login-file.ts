/**
 * The file in which a program of this machine keeps its login, and renews it whenever that program runs. It is read
 * here, never written and never renewed.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { BosunError } from '../../contract/errors.ts';
import type { LoginParts, LoginPlace } from '../../contract/login.ts';
import { objectionTo, type KeyHeader, type Secret } from './keys.ts';
import { readPrivateFile } from './private-file.ts';

/** Logins to tool servers are in there too. */
const FILE_BYTES_MAX = 1024 * 1024;

interface LoginFileOptions {
  program: string;
  file: string;
  /** What is in the text of the file; may throw, and has no token where there is none. */
  pick(text: string): LoginParts;
  remedy: string;
}

export class LoginFile implements Secret {
  readonly how: string;
  readonly header: KeyHeader = 'bearer';
  readonly isThere = true;
  readonly #options: LoginFileOptions;
  #found: { version: string; text: string } | undefined;

  constructor(options: LoginFileOptions) {
    this.#options = options;
    this.how = `the login of ${options.program} in ${options.file}`;
  }

  async open(): Promise<LoginParts> {
    const { program, file, pick, remedy } = this.#options;
    const version = versionOf(file);
    // What went wrong is not kept: it may be put right any time.
    if (this.#found?.version !== version) this.#found = { version, text: await this.#read() };
    // Also of a text that is known already: it may have expired since.
    const parts = pick(this.#found.text);
    if (!objectionTo(parts.token) && !(parts.account && objectionTo(parts.account))) return parts;
    throw noLogin(`there is no login of ${program} in ${file} that can be used; ${remedy}`);
  }

  async read(): Promise<string> {
    return (await this.open()).token;
  }

  /** Only where the program has renewed it meanwhile. */
  forget(): boolean {
    return this.#found?.version !== versionOf(this.#options.file);
  }

  toJSON(): string {
    return this.how;
  }

  #read(): Promise<string> {
    const { file, remedy } = this.#options;
    const uid = process.getuid?.();
    return readPrivateFile({ file, what: 'login file', bytesMax: FILE_BYTES_MAX, uid, remedy });
  }
}

/** Only below the home that the environment names, and only where it is there. */
export function findLoginFile(
  env: NodeJS.ProcessEnv,
  { variable, below, file: name }: LoginPlace,
): string | undefined {
  const home = env[variable] || (env.HOME && path.join(env.HOME, below));
  if (!home || !path.isAbsolute(home)) return undefined;
  const file = path.join(home, name);
  return existsSync(file) ? file : undefined;
}

/** To find out what kind of login it is; what is wrong with the file is told when the login is needed. */
export function peek(file: string): string | undefined {
  try {
    const stats = statSync(file);
    return stats.isFile() && stats.size <= FILE_BYTES_MAX ? readFileSync(file, 'utf8') : undefined;
  } catch {
    return undefined;
  }
}

export function noLogin(message: string): BosunError {
  return new BosunError('usage', message);
}

/** Programs replace the file as a whole, or write into it; who may read it can change too. */
function versionOf(file: string): string {
  try {
    const { ino, size, ctimeNs } = statSync(file, { bigint: true });
    return `${ino} ${size} ${ctimeNs}`;
  } catch {
    return 'gone';
  }
}
