/**
 * The requests to models that are under way, in a file beside a run's journal: an engine that is killed settles none of
 * them, and the next one charges for them. Each engine has a file of its own. It survives a kill, not a power cut.
 */
import { appendFileSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { ModelUse } from '../contract/model.ts';
import { parseJson } from '../base/parse-json.ts';
import { namesIn } from '../system/names-in.ts';

export interface Sent {
  task: string;
  attempt: number;
  /** An estimate: what it is charged where no answer is ever heard of. */
  use: ModelUse;
}

export class InFlight {
  readonly #file: string;
  #last = 0;
  #openCount = 0;

  /** `directory` is the run's. */
  constructor(directory: string) {
    this.#file = path.join(placeIn(directory), `${Date.now()}-${process.pid}`);
  }

  /** Gives what to call once it is settled. */
  begin(sent: Sent): () => void {
    const n = (this.#last += 1);
    this.#openCount += 1;
    this.#write({ n, ...sent });
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      this.#openCount -= 1;
      if (this.#openCount > 0) this.#write({ n });
      else rmSync(this.#file, { force: true }); // so that it stays small
    };
  }

  /** Where it cannot be written, neither can the journal, which says so. */
  #write(line: object): void {
    try {
      mkdirSync(path.dirname(this.#file), { recursive: true, mode: 0o700 });
      appendFileSync(this.#file, `${JSON.stringify(line)}\n`, { mode: 0o600 });
    } catch {}
  }
}

/** What earlier engines of the run left; `forget` once it is charged. */
export function leftInFlight(directory: string): { sent: Sent[]; forget(): void } {
  const place = placeIn(directory);
  const files = namesIn(place).map((name) => path.join(place, name));
  return {
    sent: files.flatMap(unsettledIn),
    forget: () => files.forEach((file) => rmSync(file, { force: true })),
  };
}

function unsettledIn(file: string): Sent[] {
  const open = new Map<number, Sent>();
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const told = parseJson(line) as ({ n: number } & Partial<Sent>) | undefined; // the last may be cut off
    if (told?.use === undefined) open.delete(told?.n ?? 0);
    else open.set(told.n, { task: told.task!, attempt: told.attempt!, use: told.use });
  }
  return [...open.values()];
}

function placeIn(directory: string): string {
  return path.join(directory, 'in-flight');
}
