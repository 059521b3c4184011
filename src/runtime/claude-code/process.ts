/** Stands in for the child process that the SDK would start: what the SDK says goes to the one behind the fence. */
import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import type { SdkProcess, SdkSpawn } from './sdk.ts';
import type { Peer } from '../agent/talk.ts';

export class ClaudeProcess extends EventEmitter implements SdkProcess {
  readonly stdin = new PassThrough();
  readonly stdout = new PassThrough();
  killed = false;
  exitCode: number | null = null;
  #peer: Peer | undefined;
  #wanted: SdkSpawn | undefined;

  /** What the SDK would start; known once it asked. */
  get wanted(): SdkSpawn | undefined {
    return this.#wanted;
  }

  /** For the SDK, which will not wait: what it says is kept until the program is there. */
  readonly spawn = (wanted: SdkSpawn): this => {
    this.#wanted = wanted;
    return this;
  };

  attach(peer: Peer): void {
    this.#peer = peer;
    this.stdin.pipe(peer.stdin);
    peer.stdout.pipe(this.stdout);
    if (this.killed) peer.kill();
    void peer.exited.then(() => this.gone());
  }

  kill(): boolean {
    this.killed = true;
    this.#peer?.kill();
    return true;
  }

  breakOff(why: string): void {
    this.#peer?.breakOff(why);
  }

  /** The program has ended, or never began. */
  gone(): void {
    if (this.exitCode !== null) return;
    // How it ended is told by who started it; all that the SDK must know is that nothing comes any more.
    this.exitCode = 0;
    if (!this.#peer) this.stdout.end();
    this.stdin.destroy();
    this.emit('exit', this.exitCode, null);
  }
}
