/** Finds the `${{ … }}` parts of a text. It reads no expression. */

export type TemplatePart = { kind: 'text'; text: string } | { kind: 'expression'; expression: string };

const OPEN = '${{';
const CLOSE = '}}';
const EXPRESSIONS_MAX = 1000;

/** Throws a SyntaxError, with a message for people, where a part is not closed or is empty, or there are too many. */
export function splitTemplate(text: string): TemplatePart[] {
  const parts: TemplatePart[] = [];
  let at = 0;
  for (let count = 1; ; count++) {
    const open = text.indexOf(OPEN, at);
    if (open === -1) break;
    if (count > EXPRESSIONS_MAX)
      throw new SyntaxError(`the text holds more than ${EXPRESSIONS_MAX} expressions; compute it in a task`);
    if (open > at) parts.push({ kind: 'text', text: text.slice(at, open) });
    const close = closing(text, open + OPEN.length);
    if (close === -1) throw new SyntaxError('"${{" is never closed; add "}}" after the expression');
    const expression = text.slice(open + OPEN.length, close).trim();
    if (expression === '')
      throw new SyntaxError('"${{ }}" holds no expression; write one between the braces');
    parts.push({ kind: 'expression', expression });
    at = close + CLOSE.length;
  }
  if (at < text.length || parts.length === 0) parts.push({ kind: 'text', text: text.slice(at) });
  return parts;
}

/** Where the expression ends: at the first `}}` that is in no string and closes no map. */
function closing(text: string, from: number): number {
  let depth = 0;
  for (let i = from; i < text.length; i++) {
    const char = text[i]!;
    if (char === '"' || char === "'") {
      i = endOfString(text, i);
      if (i === -1) return -1;
    } else if (char === '{') depth++;
    else if (char === '}') {
      if (depth > 0) depth--;
      else if (text[i + 1] === '}') return i;
    }
  }
  return -1;
}

function endOfString(text: string, from: number): number {
  const quote = text[from]!;
  const mark = text.startsWith(quote.repeat(3), from) ? quote.repeat(3) : quote;
  for (let i = from + mark.length; i < text.length; i++) {
    if (text[i] === '\\')
      i++; // in a raw string too, a quote after it does not end the string
    else if (text.startsWith(mark, i)) return i + mark.length - 1;
  }
  return -1;
}
