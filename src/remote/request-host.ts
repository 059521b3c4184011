/** What can be asked of a host about pull requests, whatever it calls them. What it answers was written by strangers. */
import { BosunError } from '../contract/errors.ts';

export interface OpenRequest {
  number: number;
  url: string;
}

interface NewRequest {
  branch: string;
  base: string;
  title: string;
  body: string;
  draft: boolean;
}

/** A reviewer's words, bounded. */
interface Comment {
  author: string;
  text: string;
  file?: string;
  line?: number;
}

export interface Review {
  comments: Comment[];
  /** Of people who cannot push to the repository. */
  strangers: number;
  /** At least so many more than there is room for. */
  left: number;
}

export interface RequestHost {
  baseDefault(): Promise<string | undefined>;
  find(branch: string): Promise<OpenRequest | undefined>;
  open(request: NewRequest): Promise<OpenRequest>;
  /** What is not resolved. */
  review(request: OpenRequest): Promise<Review>;
}

/** Of each list that is read, by the hundred. */
export const PAGES_MAX = 10;
const COMMENTS_MAX = 100;
const COMMENT_CHARS_MAX = 4000;
const NAME_CHARS_MAX = 200;

/** Takes comments until there are enough of them. */
export class ReviewReader {
  readonly #review: Review = { comments: [], strangers: 0, left: 0 };

  add(comment: { author: unknown; text: unknown; file?: unknown; line?: unknown }, isTrusted: boolean): void {
    const text = typeof comment.text === 'string' ? harmless(comment.text, COMMENT_CHARS_MAX) : '';
    if (text === '') return;
    if (!isTrusted) this.#review.strangers += 1;
    else if (this.#review.comments.length >= COMMENTS_MAX) this.#review.left += 1;
    else {
      const { author, file, line } = comment;
      this.#review.comments.push({
        author: nameIn(author) ?? 'somebody',
        text,
        ...(nameIn(file) !== undefined && { file: nameIn(file)! }),
        ...(Number.isSafeInteger(line) && { line: line as number }),
      });
    }
  }

  /** Was not read: who wrote it is not known. */
  leave(count: number): void {
    this.#review.left += count;
  }

  end(): Review {
    return this.#review;
  }
}

/** Undefined for what is not a pull request with an address on the web. */
export function requestIn(number: unknown, url: unknown): OpenRequest | undefined {
  if (!Number.isSafeInteger(number) || typeof url !== 'string' || url.length > 2000) return undefined;
  const parsed = URL.parse(url);
  if (parsed?.protocol !== 'https:' && parsed?.protocol !== 'http:') return undefined;
  return { number: number as number, url: parsed.href };
}

export function requireRequest(request: OpenRequest | undefined, hostname: string): OpenRequest {
  if (request) return request;
  throw new BosunError(
    'network',
    `${hostname} answered something else than a pull request; see there whether it was made`,
  );
}

export function nameIn(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const name = harmless(value, NAME_CHARS_MAX).replaceAll('\n', ' ').trim();
  return name === '' ? undefined : name;
}

/** Lines stay; what steers a terminal or turns text around does not. */
function harmless(text: string, charsMax: number): string {
  return text
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/(?!\n|\t)[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, '')
    .trim()
    .slice(0, charsMax);
}
