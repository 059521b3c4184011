/**
 * Keeps what an agent's prompt gets from other tasks to a size: what is longer is given as a summary, where an agent made
 * one, else as an outline, and whole as a file that the agent can read. Pure.
 */
import type { GivenFile } from '../../contract/event.ts';
import { outlineOf } from './outline.ts';

/** Of one value in a prompt, and of all of them together. */
const VALUE_CHARS_MAX = 32_000;
const VALUES_CHARS_MAX = 128_000;
/** In place of a longer one. */
const OUTLINE_CHARS_MAX = 4000;

/** A text that somebody is to sum up. */
export interface TooLong {
  text: string;
  /** Where it comes from. */
  what: string;
}

/** What an agent made of a long text; `wanted` where it has not been asked, undefined where nobody is to be asked. */
export type SummaryReader = (long: TooLong) => { summary: string; agent: string } | 'wanted' | undefined;

export class PromptContext {
  readonly files: GivenFile[] = [];
  /** Nobody has summed them up yet. */
  readonly tooLong: TooLong[] = [];
  readonly #summaryOf: SummaryReader;
  #chars = 0;

  constructor(summaryOf: SummaryReader = () => undefined) {
    this.#summaryOf = summaryOf;
  }

  /** The value, or what stands for it; `what` says where it comes from. */
  fit(text: string, what: string): string {
    if (text.length <= VALUE_CHARS_MAX && this.#chars + text.length <= VALUES_CHARS_MAX) {
      this.#chars += text.length;
      return text;
    }
    return this.sumUp(text, what, () => outlineOf(text, OUTLINE_CHARS_MAX));
  }

  /** What stands for it, which is `outline` where no agent sums it up. */
  sumUp(text: string, what: string, outline: () => string): string {
    const found = this.#summaryOf({ text, what });
    if (found === 'wanted') this.tooLong.push({ text, what });
    const made = typeof found === 'object' ? found : undefined;
    const short = made?.summary ?? outline();
    this.#chars += short.length;
    const kind = made ? `a summary by the agent ${made.agent}` : 'an outline';
    return `${short}\n(This is ${kind} of ${what}, which has ${text.length} characters. The whole text is in the file ${this.add(text)}, see below.)`;
  }

  /** A file that the agent can read; its name. */
  add(text: string): string {
    const name = `value-${this.files.length + 1}.txt`;
    this.files.push({ name, text });
    return name;
  }
}
