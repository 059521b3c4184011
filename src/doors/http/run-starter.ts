/**
 * Starts engine processes of their own: one that drives what waits in the queue of a repository, one for a run that is
 * continued. So what agents do burdens no request, and no run ends with the server. It drives nothing, and knows nothing
 * of what they do: the journal does.
 *
 *   idle ──wake──▶ at work ──(the queue is empty)──▶ idle
 *                   │  └─wake: looks once more when it has ended
 *                   └─(it failed, and runs still wait)──▶ tried again, later each time
 */
import path from 'node:path';
import { PACKAGE } from '../../base/package-directory.ts';
import type { Actor } from '../../contract/actor.ts';
import { BosunError } from '../../contract/errors.ts';
import { openJournal } from '../../run/journal.ts';
import { startInOwnSession } from '../../system/process/process.ts';
import { startDetached } from '../start-detached.ts';

const RETRY_MS = 1000;
const RETRY_MS_MAX = 60_000;
const SAID_CHARS_MAX = 4000;

interface Driven {
  isWanted: boolean;
  failures: number;
  leave(): void;
}

export class RunStarter implements Disposable {
  readonly #onTrouble: (text: string) => void;
  readonly #driven = new Map<string, Driven>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #isClosed = false;

  /** Is told, for people, why what waits is not driven. */
  constructor(onTrouble: (text: string) => void) {
    this.#onTrouble = onTrouble;
  }

  /** Something waits in the queue of this repository, or may. */
  wake(directory: string): void {
    const driven = this.#driven.get(directory);
    if (driven) driven.isWanted = true;
    else this.#start(directory, 0);
  }

  /** The same, where something does. */
  async wakeIfPending(directory: string): Promise<void> {
    try {
      await using journal = await openJournal(directory);
      if ((await journal.store.pendingRuns(1)).length > 0) this.wake(directory);
    } catch (error) {
      if (!(error instanceof BosunError)) throw error; // it may be gone, and a request for it says so
    }
  }

  /** `words` make a command that continues a run. */
  async continue(words: readonly string[], directory: string, by: Actor): Promise<{ id: string }> {
    let said = '';
    const onSaid = (text: string): void => void (said = (said + text).slice(0, SAID_CHARS_MAX));
    const started = await startDetached([...words, '--detach'], { cwd: directory, by, onSaid });
    if ('run' in started) return { id: started.run };
    const why = said.trim().replace(/^bosun: /, '') || `its process ended with code ${started.exitCode}`;
    throw new BosunError('wrong-state', why);
  }

  /** Those that are at work go on. */
  [Symbol.dispose](): void {
    this.#isClosed = true;
    for (const { leave } of this.#driven.values()) leave();
    for (const timer of this.#timers) clearTimeout(timer);
  }

  #start(directory: string, failures: number): void {
    if (this.#isClosed) return;
    const program = path.join(PACKAGE, 'bin', 'bosun');
    const { said, exited, leave } = startInOwnSession([program, 'work'], {
      env: process.env,
      cwd: directory,
    });
    const driven: Driven = { isWanted: false, failures, leave };
    this.#driven.set(directory, driven);
    let text = '';
    said.on('data', (some: Buffer) => (text = (text + some.toString()).slice(-SAID_CHARS_MAX)));
    const over = (code: number): void => this.#ended(directory, driven, code, text);
    exited.then(over, (error: Error) => ((text = error.message), over(2)));
  }

  /** 1 says that runs failed, or the machine; 3 that they were cancelled. Where none waits, what was to be done is done. */
  #ended(directory: string, { isWanted, failures }: Driven, code: number, said: string): void {
    this.#driven.delete(directory);
    if (this.#isClosed) return;
    if (code === 0 || code === 3 || (code === 1 && isWanted)) {
      if (isWanted) this.#start(directory, 0);
      return;
    }
    const trouble = `the engine for ${directory} ended with code ${code}: ${said.trim()}`;
    if (code !== 1) this.#onTrouble(trouble);
    const waitMs = Math.min(RETRY_MS * 2 ** failures, RETRY_MS_MAX);
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      const unsaid = code === 1 ? trouble : undefined;
      if (!this.#driven.has(directory)) void this.#again(directory, failures + 1, unsaid);
    }, waitMs);
    this.#timers.add(timer);
  }

  async #again(directory: string, failures: number, trouble?: string): Promise<void> {
    try {
      await using journal = await openJournal(directory);
      if ((await journal.store.pendingRuns(1)).length === 0 || this.#driven.has(directory)) return;
      if (trouble !== undefined) this.#onTrouble(trouble);
      this.#start(directory, failures);
    } catch {
      // whoever asks for something of it is told
    }
  }
}
