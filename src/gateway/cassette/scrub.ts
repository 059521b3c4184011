/** Finds secrets: keys that are known, and what looks like one. What it finds never gets onto a cassette. */
import { editsOf, editsOfWord, type TextEdit } from './edits.ts';

const SECRET = '[secret]';
/** A key shorter than this opens nothing worth hiding, and its letters stand everywhere. */
const KEY_CHARS_MIN = 8;

/** Texts inside JSON have their line ends as a backslash and a letter. */
const START = String.raw`(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf]))`;

const LOOKS_LIKE_A_KEY: RegExp[] = [
  ...[
    'sk-[A-Za-z0-9_-]{16,}', // Anthropic, OpenAI, OpenRouter
    'AIza[A-Za-z0-9_-]{30,}', // Google
    String.raw`ya29\.[A-Za-z0-9_-]{20,}`,
    'gh[pousr]_[A-Za-z0-9]{20,}',
    'github_pat_[A-Za-z0-9_]{20,}',
    'glpat-[A-Za-z0-9_-]{16,}',
    '(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])',
    'xox[abprs]-[A-Za-z0-9-]{10,}', // Slack
    String.raw`eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+`, // a signed web token
  ].map((pattern) => new RegExp(START + pattern, 'g')),
  /(?<=\bBearer )[A-Za-z0-9._~+/-]{8,}=*/gi,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]{0,10000}?-----END [A-Z ]*PRIVATE KEY-----/g,
];

export function secretsIn(text: string, known: readonly string[]): TextEdit[] {
  const keys = known.filter((key) => key.length >= KEY_CHARS_MIN);
  return [
    ...keys.flatMap((key) => editsOfWord(text, key, SECRET)),
    ...LOOKS_LIKE_A_KEY.flatMap((pattern) => editsOf(text, pattern, SECRET)),
  ];
}

const CREDENTIALS_IN_QUERY = /^(?:key|api[-_]?key|(?:access|auth|id)?[-_]?token|auth|signature)$/i;

/** A path whose query holds no credentials and stands in a fixed order. */
export function withoutCredentials(path: string): string {
  const [start, query] = split(path);
  if (query === undefined) return start;
  const kept = query.split('&').filter((part) => !CREDENTIALS_IN_QUERY.test(part.split('=', 1)[0]!));
  return kept.length === 0 ? start : `${start}?${kept.toSorted().join('&')}`;
}

function split(path: string): [string, string | undefined] {
  const at = path.indexOf('?');
  return at < 0 ? [path, undefined] : [path.slice(0, at), path.slice(at + 1)];
}
