/**
 * The requests to models that are under way, in a file beside a run's journal: an engine that is killed settles none of
 * them, and the next one charges for them. Each engine has a file of its own. It survives a kill, not a power cut, and
 * where it cannot be written or removed it fails nobody: the journal, which says what was charged, has the last word.
 */
import { appendFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ModelUse } from '../contract/model.ts';
import { parseJson } from '../base/parse-json.ts';
import { namesIn } from '../system/files/names-in.ts';

/** Of a busy run some request is always under way: after so many lines only those of open ones are kept. */
const LINES_MAX = 1000;
/** What is being written anew; nothing is read from it. */
const NEW = '.new';

export interface InFlightRequest {
  task: string;
  attempt: number;
  /** An estimate: what it is charged where no answer is ever heard of. */
  use: ModelUse;
}

/** A request that is noted. */
export interface Noted {
  /** Never used twice in a run. */
  id: string;
  /** To be called once it is settled. */
  end(): void;
}

export class InFlight {
  readonly #file: string;
  readonly #open = new Map<number, string>();
  #last = 0;
  #lineCount = 0;

  /** `directory` is the run's. */
  constructor(directory: string) {
    this.#file = path.join(placeIn(directory), `${Date.now()}-${process.pid}`);
  }

  begin(sent: InFlightRequest): Noted {
    const n = (this.#last += 1);
    const line = `${JSON.stringify({ n, ...sent })}\n`;
    this.#open.set(n, line);
    this.#append(line);
    return { id: idOf(this.#file, n), end: () => this.#end(n) };
  }

  #end(n: number): void {
    if (!this.#open.delete(n)) return;
    if (this.#open.size === 0 && remove(this.#file)) this.#lineCount = 0;
    else this.#append(`${JSON.stringify({ n })}\n`);
  }

  #append(line: string): void {
    try {
      if (this.#lineCount >= LINES_MAX + this.#open.size) return this.#rewrite();
      if (this.#lineCount === 0) mkdirSync(path.dirname(this.#file), { recursive: true, mode: 0o700 });
      appendFileSync(this.#file, line, { mode: 0o600 });
      this.#lineCount += 1;
    } catch {} // neither can the journal be written, which says so
  }

  #rewrite(): void {
    writeFileSync(`${this.#file}${NEW}`, [...this.#open.values()].join(''), { mode: 0o600 });
    renameSync(`${this.#file}${NEW}`, this.#file);
    this.#lineCount = this.#open.size;
  }
}

/** What earlier engines of the run left, by the ids of their notes; `forget` once it is charged. */
export function leftInFlight(directory: string): { sent: Map<string, InFlightRequest>; forget(): void } {
  const place = placeIn(directory);
  const files = namesIn(place).map((name) => path.join(place, name));
  return {
    sent: new Map(files.filter((file) => !file.endsWith(NEW)).flatMap(unsettledIn)),
    forget: () => files.forEach(remove),
  };
}

function unsettledIn(file: string): [id: string, sent: InFlightRequest][] {
  const open = new Map<string, InFlightRequest>();
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const told = parseJson(line) as ({ n: number } & Partial<InFlightRequest>) | undefined; // the last may be cut off
    if (told === undefined) continue;
    const id = idOf(file, told.n);
    if (told.use === undefined) open.delete(id);
    else open.set(id, { task: told.task!, attempt: told.attempt!, use: told.use });
  }
  return [...open];
}

function idOf(file: string, n: number): string {
  return `${path.basename(file)}.${n}`;
}

function remove(file: string): boolean {
  try {
    rmSync(file, { force: true });
    return true;
  } catch {
    return false;
  }
}

function placeIn(directory: string): string {
  return path.join(directory, 'in-flight');
}
