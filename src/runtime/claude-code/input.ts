/** What the agent is told: the prompt, and what people say while it works. Knows what of it was not yet answered. */
import { randomUUID } from 'node:crypto';
import type { SdkInput, SdkResult } from './sdk.ts';

const WAITING_MAX = 32;
const TEXT_CHARS_MAX = 1024 * 1024;

export class ClaudeInput implements AsyncIterable<SdkInput> {
  readonly #waiting: { message: SdkInput; given: (() => void) | undefined }[] = [];
  readonly #unanswered = new Set<string>();
  #wake: (() => void) | undefined;
  #isClosed = false;

  /** Said at the next pause of a running turn, else in a turn of its own; `given` is called when its program gets it. */
  say(text: string, given?: () => void): void {
    if (this.#isClosed || this.#waiting.length >= WAITING_MAX) return;
    const uuid = randomUUID();
    this.#unanswered.add(uuid);
    const content = text.slice(0, TEXT_CHARS_MAX);
    const message = { role: 'user' as const, content };
    this.#waiting.push({ message: { type: 'user', uuid, message, parent_tool_use_id: null }, given });
    this.#wake?.();
  }

  /** Takes note of a turn's end; whether another one follows, for what was said meanwhile. */
  answered({ user_message_uuids: answered, queued_turn_count: queuedCount }: SdkResult): boolean {
    for (const uuid of answered ?? []) this.#unanswered.delete(uuid);
    // Older programs do not say what they answered: then only their own count tells.
    return (queuedCount ?? 0) > 0 || (answered !== undefined && this.#unanswered.size > 0);
  }

  close(): void {
    this.#isClosed = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<SdkInput, void> {
    for (;;) {
      const next = this.#waiting.shift();
      if (next) {
        next.given?.();
        yield next.message;
      } else if (this.#isClosed) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}
