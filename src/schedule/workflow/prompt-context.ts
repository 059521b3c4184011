/**
 * Keeps what an agent's prompt gets from other tasks to a size: what is longer is given as an outline, and whole as a
 * file that the agent can read. Pure.
 */
import type { GivenFile } from '../../contract/event.ts';
import { outlineOf } from './outline.ts';

/** Of one value in a prompt, and of all of them together. */
const VALUE_CHARS_MAX = 32_000;
const VALUES_CHARS_MAX = 128_000;
/** In place of a longer one. */
const OUTLINE_CHARS_MAX = 4000;

export class PromptContext {
  readonly files: GivenFile[] = [];
  #chars = 0;

  /** The value, or its outline; `what` says where it comes from. */
  fit(value: string, what: string): string {
    if (value.length <= VALUE_CHARS_MAX && this.#chars + value.length <= VALUES_CHARS_MAX) {
      this.#chars += value.length;
      return value;
    }
    const outline = outlineOf(value, OUTLINE_CHARS_MAX);
    this.#chars += outline.length;
    const name = `value-${this.files.length + 1}.txt`;
    this.files.push({ name, text: value });
    return `${outline}\n(This is an outline of ${what}, which has ${value.length} characters. The whole text is in the file ${name}, see below.)`;
  }
}
