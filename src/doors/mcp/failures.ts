/** What went wrong, in words for a model: what failed, and what a person has to do where it cannot. */
import { machineError } from '../../base/machine-failure.ts';
import { BosunError } from '../../contract/errors.ts';
import { keepDetails } from '../bug.ts';
import { cutAndCount } from '../../base/cut-text.ts';

/** A refused workflow lists all that is wrong with it. */
const MESSAGE_CHARS_MAX = 10_000;

export function messageOf(error: unknown): string {
  const known = error instanceof BosunError ? error : machineError(error);
  if (!known) return (error as Error | undefined)?.name === 'AbortError' ? 'cancelled' : keepDetails(error);
  const who =
    known.code === 'not-trusted' ? '. Only the person can agree to that, in a terminal of theirs' : '';
  return cutAndCount(`${known.code}: ${known.message}${who}`, MESSAGE_CHARS_MAX);
}
