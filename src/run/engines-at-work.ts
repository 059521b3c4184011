/**
 * The engines that are at work in a repository. Each holds a lock of its own for as long as it lives; to come and to do
 * what only one that is alone may do takes the gate, a lock that nobody holds for long. It drives nothing.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { BosunError } from '../contract/errors.ts';
import type { Home } from '../store/home.ts';
import { awaitLock, isLocked, takeLock, type Lock } from '../store/lock.ts';
import { namesIn } from '../system/files/names-in.ts';

/** Whoever is alone may have the files of a thousand killed attempts to remove. */
const GATE_MS_MAX = 30_000;

export class EnginesAtWork implements Disposable {
  readonly #home: Home;
  readonly #own: string;
  #lock: Lock;

  /** `alone` is done first where no other engine is at work. */
  static async join(home: Home, alone: () => Promise<void>): Promise<EnginesAtWork> {
    mkdirSync(home.engines, { recursive: true, mode: 0o700 });
    using _ = await gateOf(home);
    if (othersAtWork(home, undefined, true) === 0) await alone();
    return new EnginesAtWork(home);
  }

  private constructor(home: Home) {
    this.#home = home;
    this.#own = `${process.pid}-${randomBytes(4).toString('hex')}.lock`;
    const lock = takeLock(path.join(home.engines, this.#own));
    if (!lock) throw new Error(`a new lock is held already: ${this.#own}`);
    this.#lock = lock;
  }

  /** Does it while no other engine is at work, and none can come; gives whether it did. */
  async whileAlone(action: () => Promise<void>): Promise<boolean> {
    if (othersAtWork(this.#home, this.#own, false) > 0) return false; // without the gate, which others may want
    using _ = await gateOf(this.#home);
    if (othersAtWork(this.#home, this.#own, true) > 0) return false;
    await action();
    return true;
  }

  [Symbol.dispose](): void {
    // First its name: whoever finds it free takes it for one that was killed.
    rmSync(path.join(this.#home.engines, this.#own), { force: true });
    this.#lock[Symbol.dispose]();
  }
}

/** Whoever has the gate sweeps up what killed ones left: without it, that could be one that is just coming. */
function othersAtWork(home: Home, own: string | undefined, hasGate: boolean): number {
  let count = 0;
  for (const name of namesIn(home.engines)) {
    if (name === own || !name.endsWith('.lock')) continue;
    const file = path.join(home.engines, name);
    if (isLocked(file)) count += 1;
    else if (hasGate) rmSync(file, { force: true });
  }
  return count;
}

/** Whoever has it is the only one to do what only one may; nobody holds it for long. */
async function gateOf(home: Home): Promise<Lock> {
  const gate = await awaitLock(home.lock, GATE_MS_MAX);
  if (gate) return gate;
  throw new BosunError(
    'busy',
    `another bosun has kept ${home.directory} to itself for ${GATE_MS_MAX / 1000} s (it prunes, or is an earlier version); wait for it, then try again`,
  );
}
