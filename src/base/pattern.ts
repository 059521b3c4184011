/**
 * Regular expressions that workflows and agents write, in time linear in pattern and text, with an end to how long
 * repeated searches may take: no text makes one of them run for minutes. Look-around and back-references do not exist here, since nobody can promise that of them.
 */
import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';

const PATTERN_CHARS_MAX = 1000;
/** Instructions times characters: some 100 ms at the worst. */
const STEPS_MAX = 1_000_000;
/** Each search may read to the end of the text before it settles for a short match, so many of them take long. */
const SEARCHES_MS_MAX = 50;

export class PatternError extends Error {
  override readonly name = 'PatternError';
}

export interface Pattern {
  test(text: string): boolean;
  /** What the first group of the last match has. */
  lastGroup(text: string): string | undefined;
  groupCount: number;
  /** Instructions; times the characters of a text it is what a test costs. */
  size: number;
}

let engine: typeof RE2JS | undefined;

/** Throws a PatternError, to be put after the pattern itself. With `m`, `^` and `$` are those of lines. */
export function compilePattern(source: string, flags: '' | 'm' = ''): Pattern {
  if (source.length > PATTERN_CHARS_MAX)
    throw new PatternError(`is longer than ${PATTERN_CHARS_MAX} characters; shorten it`);
  // loaded when it is needed, which is seldom
  engine ??= (createRequire(import.meta.url)('re2js') as { RE2JS: typeof RE2JS }).RE2JS;
  const compiled = compile(engine, source, flags);
  const bounded = (text: string): string => {
    if (text.length * compiled.programSize() <= STEPS_MAX) return text;
    throw new PatternError(`would take too long on a text of ${text.length} characters; write a simpler one`);
  };
  return {
    groupCount: compiled.groupCount(),
    size: compiled.programSize(),
    test: (text) => compiled.matcher(bounded(text)).find(),
    lastGroup: (text) => {
      const matcher = compiled.matcher(bounded(text));
      let found: string | undefined;
      const startMs = performance.now();
      while (matcher.find()) {
        found = matcher.group(1) ?? undefined;
        if (performance.now() - startMs > SEARCHES_MS_MAX)
          throw new PatternError('takes too long to find its last match; write a simpler one');
      }
      return found;
    },
  };
}

function compile(RE: typeof RE2JS, source: string, flags: '' | 'm'): RE2JS {
  try {
    return RE.compile(RE.translateRegExp(source), flags === 'm' ? RE.MULTILINE : 0);
  } catch (error) {
    const isAround = /\(\?<?[=!]|\\[1-9k]/.test(source);
    throw new PatternError(
      isAround
        ? 'has a look-around or a back-reference, which can take for ever; write it without'
        : `is not a regular expression: ${(error as Error).message.replace(/^error parsing regexp: /, '')}`,
    );
  }
}
