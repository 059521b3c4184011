/** A line that is typed in the live view: keys change its text until it is sent or left. It draws nothing and sends nothing. */
import type { Key } from './keys.ts';

const CHARS_MAX = 64 * 1024;

export type LineState = 'typing' | 'sent' | 'left';

export class TypedLine {
  #text = '';

  get text(): string {
    return this.#text;
  }

  press(key: Key): LineState {
    if (key === 'enter') return this.#text.trim() === '' ? 'typing' : 'sent';
    if (key === 'escape') return 'left';
    if (key === 'backspace') this.#text = [...this.#text].slice(0, -1).join('');
    else if (key === 'ctrl-u') this.#text = '';
    else if (key === 'ctrl-w') this.#text = this.#text.trimEnd().replace(/\S+$/, '');
    else if ([...key].length === 1) this.add(key);
    return 'typing';
  }

  /** What came at once: it was pasted, or typed faster than it was read. */
  add(text: string): void {
    this.#text = (this.#text + text.replaceAll(/\p{Cc}+/gu, ' ')).slice(0, CHARS_MAX);
  }
}
