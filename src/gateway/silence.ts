/** Notices a provider that sends nothing for a while. It ends nothing: time-outs are the transport's. */

/** A person should see by then that it is not the agent that is slow. */
const SILENT_MS = 10_000;

export class Silence implements Disposable {
  readonly #tell: (isSilent: boolean) => void;
  readonly #silentMs: number;
  #timer: NodeJS.Timeout | undefined;
  #isSilent = false;

  constructor(tell: (isSilent: boolean) => void, silentMs = SILENT_MS) {
    this.#tell = tell;
    this.#silentMs = silentMs;
    this.listen();
  }

  /** From now on something is expected. */
  listen(): void {
    if (this.#timer) return void this.#timer.refresh();
    this.#timer = setTimeout(() => {
      this.#isSilent = true;
      this.#tell(true);
    }, this.#silentMs);
    this.#timer.unref();
  }

  /** Something came, or nothing is expected: whoever reads it may be slow. */
  heard(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#isSilent) return;
    this.#isSilent = false;
    this.#tell(false);
  }

  async *over(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of body) {
      this.heard();
      yield chunk;
      this.listen();
    }
  }

  [Symbol.dispose](): void {
    this.heard();
  }
}

type Notice =
  { type: 'attempt.held'; by: 'provider'; provider: string; text: string } | { type: 'attempt.released' };

/** Of several silent requests of an attempt, only the first and the last are told of. */
export function noticeSilence(tell: (notice: Notice) => void): (provider: string, isSilent: boolean) => void {
  let silent = 0;
  return (provider, isSilent) => {
    silent += isSilent ? 1 : -1;
    const text = `${provider} has sent nothing for ${SILENT_MS / 1000}s`;
    if (isSilent && silent === 1) tell({ type: 'attempt.held', by: 'provider', provider, text });
    else if (!isSilent && silent === 0) tell({ type: 'attempt.released' });
  };
}
