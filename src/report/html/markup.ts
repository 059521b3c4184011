/** Writes markup in which every value is escaped, in text and in attributes alike. The only way a report makes markup. */
import { spellControls } from '../text/plain.ts';

/** Text that is markup already; only `markup` and `joinMarkup` make it. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Value = Markup | Markup[] | string | number | null | false;

export function markup(strings: TemplateStringsArray, ...values: Value[]): Markup {
  let text = strings[0]!;
  values.forEach((value, index) => {
    text += write(value) + strings[index + 1]!;
  });
  return new Markup(text);
}

function write(value: Value): string {
  if (value === null || value === false) return '';
  if (value instanceof Markup) return value.text;
  if (Array.isArray(value)) return value.map(({ text }) => text).join('');
  if (typeof value === 'number') return String(Math.round(value * 100) / 100);
  return escape(value);
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Line ends and tabs stay; other controls, and marks that turn the reading direction, are spelled out. */
function escape(text: string): string {
  return text
    .split(/([\n\t])/)
    .map((part) => (part === '\n' || part === '\t' ? part : spellControls(part)))
    .join('')
    .replace(/[&<>"']/g, (char) => ENTITIES[char]!);
}
