/** Colours for a terminal, by what they mean. Whether it has any is for who writes to it to know. */
const CODES = { good: '32', bad: '31', busy: '36', ask: '33', quiet: '2', strong: '1' } as const;
export type Color = keyof typeof CODES;
export type Paint = (color: Color, text: string) => string;

export function painter(color: boolean): Paint {
  return (name, text) => (color && text !== '' ? `\u001b[${CODES[name]}m${text}\u001b[0m` : text);
}
