/**
 * Keeps what an agent says and does in one attempt, up to a size, so that there is a story of it if its conversation grows
 * too long for its model. It judges nothing.
 */
import { cutText } from '../base/cut-text.ts';
import type { AgentEvent } from '../contract/model.ts';

const STORY_CHARS_MAX = 256 * 1024;
const TEXT_CHARS_MAX = 4000;
const CALL_CHARS_MAX = 600;
const RESULT_CHARS_MAX = 600;
const FILES_MAX = 100;
const TOOLS_MAX = 50;

export class Conversation {
  /** What the agent was told of a conversation before this one. */
  readonly #before: string | undefined;
  readonly #steps: string[] = [];
  readonly #files = new Set<string>();
  readonly #tools = new Map<string, number>();
  #chars = 0;
  #leftOut = 0;

  constructor(before: string | undefined) {
    this.#before = before;
  }

  hear(event: AgentEvent): void {
    switch (event.kind) {
      case 'text':
        return this.#add(`- said: ${cutText(event.text, TEXT_CHARS_MAX)}`);
      case 'tool-call': {
        const times = this.#tools.get(event.name) ?? 0;
        if (times > 0 || this.#tools.size < TOOLS_MAX) this.#tools.set(event.name, times + 1);
        return this.#add(`- called ${event.name}: ${cutText(event.input, CALL_CHARS_MAX)}`);
      }
      case 'tool-result':
        return this.#add(
          `  ${event.isError ? 'it failed' : 'it gave'}: ${cutText(event.text, RESULT_CHARS_MAX)}`,
        );
      case 'file-changed':
        if (this.#files.size < FILES_MAX) this.#files.add(event.path);
        return undefined;
      case 'asked':
        return this.#add(
          `- asked: ${cutText(event.text, CALL_CHARS_MAX)} It was answered: ${event.answer ?? 'nothing'}`,
        );
      default:
        return undefined;
    }
  }

  /** `changed`: the files that were collected. */
  story(changed: readonly { path: string }[]): string {
    const files = [...new Set([...changed.map(({ path }) => path), ...this.#files])].slice(0, FILES_MAX);
    const tools = [...this.#tools].map(([name, times]) => `${name} (${times})`);
    const head = [
      `Files changed: ${files.length > 0 ? files.join(', ') : 'none'}`,
      `Tools called: ${tools.length > 0 ? tools.join(', ') : 'none'}`,
    ].join('\n');
    return [
      head,
      ...(this.#before === undefined ? [] : [`Before that:\n${this.#before}`]),
      ...(this.#leftOut > 0 ? [`… (${this.#leftOut} steps left out)`] : []),
      this.#steps.join('\n'),
    ].join('\n\n');
  }

  /** The oldest go first. */
  #add(step: string): void {
    this.#steps.push(step);
    this.#chars += step.length + 1;
    while (this.#chars > STORY_CHARS_MAX) {
      this.#chars -= this.#steps.shift()!.length + 1;
      this.#leftOut++;
    }
  }
}
