/**
 * Starts engine processes of their own: one that drives what waits in the queue of a repository, one for a run that is
 * continued. So what agents do burdens no request, and no run ends with the server. It drives nothing, and knows nothing
 * of what they do: the journal does.
 *
 *   idle ──wake──▶ at work ──(the queue is empty)──▶ idle
 *                   │  └─wake: looks once more when it has ended
 *                   └─(it failed, and runs still wait)──▶ tried again, later each time, or when others come to wait
 */
import path from 'node:path';
import { PACKAGE } from '../../base/package-directory.ts';
import type { Actor } from '../../contract/actor.ts';
import { BosunError } from '../../contract/errors.ts';
import { openJournal } from '../../run/journal.ts';
import { isQueuedHere, notQueuedHere } from '../../run/own-seal.ts';
import { startInOwnSession } from '../../system/process/process.ts';
import { startDetached } from '../start-detached.ts';

const RETRY_MS = 1000;
const RETRY_MS_MAX = 60_000;
const SAID_CHARS_MAX = 4000;

/** Of a queue that could not be driven, how many are told from those that come later. */
const WAITING_MAX = 1000;

interface Driven {
  isWanted: boolean;
  /** Somebody has written: something may wait that it did not see any more. */
  isChanged: boolean;
  failures: number;
  leave(): void;
}

export class RunStarter implements Disposable {
  readonly #onTrouble: (text: string) => void;
  readonly #driven = new Map<string, Driven>();
  /** By directory: when it is tried again, and which runs waited when it failed. */
  readonly #failed = new Map<string, { timer: NodeJS.Timeout; waiting: Promise<ReadonlySet<string>> }>();
  /** Runs that wait and are not this user's. */
  readonly #strange = new Set<string>();
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

  /** Somebody has written in its journal: what waits there, whoever queued it, is driven. */
  async changed(directory: string): Promise<void> {
    const driven = this.#driven.get(directory);
    if (driven) driven.isChanged = true;
    else await this.#wakeIfWaiting(directory);
  }

  /** `words` make a command that continues a run; what is not ours to word stands behind a `--` or a `=`. */
  async continue(
    [command, ...rest]: readonly [string, ...string[]],
    { cwd, by, more }: { cwd: string; by: Actor; more: object | undefined },
  ): Promise<{ id: string }> {
    let said = '';
    const onSaid = (text: string): void => void (said = (said + text).slice(0, SAID_CHARS_MAX));
    const started = await startDetached([command, '--detach', ...rest], {
      cwd,
      by,
      onSaid,
      ...(more && { more }),
    });
    if ('run' in started) return { id: started.run };
    const why = said.trim().replace(/^bosun: /, '') || `its process ended with code ${started.exitCode}`;
    throw new BosunError('wrong-state', why);
  }

  /** Those that are at work go on. */
  [Symbol.dispose](): void {
    this.#isClosed = true;
    for (const { leave } of this.#driven.values()) leave();
    for (const { timer } of this.#failed.values()) clearTimeout(timer);
  }

  async #wakeIfWaiting(directory: string): Promise<void> {
    const waiting = await this.#waitingIn(directory);
    const known = await this.#failed.get(directory)?.waiting;
    const isNew = [...waiting].some((run) => !known?.has(run));
    if (isNew && !this.#driven.has(directory)) this.#start(directory, 0);
  }

  /** Of what waits, what this user left there: nothing else starts by itself, and each is told of once. */
  async #waitingIn(directory: string): Promise<ReadonlySet<string>> {
    await using journal = await openJournal(directory);
    const { store } = journal;
    const own = new Set<string>();
    for (const { id, createdAtMs } of await store.pendingRuns(WAITING_MAX)) {
      const key = JSON.stringify([directory, id, createdAtMs]);
      if (this.#strange.has(key)) continue;
      if (await isQueuedHere(directory, store, id)) own.add(id);
      else {
        this.#strange.add(key);
        this.#onTrouble(`run ${id} of ${directory} waits: ${notQueuedHere(id)}`);
      }
    }
    return own;
  }

  #start(directory: string, failures: number): void {
    if (this.#isClosed) return;
    clearTimeout(this.#failed.get(directory)?.timer);
    this.#failed.delete(directory);
    const program = path.join(PACKAGE, 'bin', 'bosun');
    const { said, exited, leave } = startInOwnSession([program, 'work'], {
      env: process.env,
      cwd: directory,
    });
    const driven: Driven = { isWanted: false, isChanged: false, failures, leave };
    this.#driven.set(directory, driven);
    let text = '';
    said.on('data', (some: Buffer) => (text = (text + some.toString()).slice(-SAID_CHARS_MAX)));
    const over = (code: number): void => this.#ended(directory, driven, code, text);
    exited.then(over, (error: Error) => ((text = error.message), over(2)));
  }

  /** 1 says that runs failed, or the machine; 3 that they were cancelled. Where none waits, what was to be done is done. */
  #ended(directory: string, { isWanted, isChanged, failures }: Driven, code: number, said: string): void {
    this.#driven.delete(directory);
    if (this.#isClosed) return;
    if (code === 0 || code === 3 || (code === 1 && isWanted)) {
      if (isWanted) this.#start(directory, 0);
      else if (isChanged) this.#wakeIfWaiting(directory).catch(() => {}); // it may be gone
      return;
    }
    const trouble = `the engine for ${directory} ended with code ${code}: ${said.trim()}`;
    if (code !== 1) this.#onTrouble(trouble);
    const unsaid = code === 1 ? trouble : undefined;
    const waitMs = Math.min(RETRY_MS * 2 ** failures, RETRY_MS_MAX);
    const timer = setTimeout(() => void this.#again(directory, failures + 1, unsaid), waitMs);
    this.#failed.set(directory, {
      timer,
      waiting: this.#waitingIn(directory).catch(() => new Set<string>()),
    });
  }

  async #again(directory: string, failures: number, trouble?: string): Promise<void> {
    this.#failed.delete(directory);
    try {
      if ((await this.#waitingIn(directory)).size === 0 || this.#driven.has(directory)) return;
      if (trouble !== undefined) this.#onTrouble(trouble);
      this.#start(directory, failures);
    } catch {
      // whoever asks for something of it is told
    }
  }
}
