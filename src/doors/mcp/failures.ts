/** What went wrong, in words for a model: what failed, and what a person has to do where it cannot. */
import { machineError } from '../../base/machine-failure.ts';
import { BosunError } from '../../contract/errors.ts';
import { OPERATIONS } from '../../contract/operations.ts';
import { keepDetails } from '../bug.ts';
import { cutAndCount } from '../../base/cut-text.ts';

/** A refused workflow lists all that is wrong with it. */
const MESSAGE_CHARS_MAX = 10_000;

export function messageOf(error: unknown): string {
  const known = error instanceof BosunError ? error : machineError(error);
  if (!known) return (error as Error | undefined)?.name === 'AbortError' ? 'cancelled' : keepDetails(error);
  const who =
    known.code === 'not-trusted' ? '. Only the person can agree to that, in a terminal of theirs' : '';
  return cutAndCount(`${known.code}: ${wordsForModel(known)}${who}`, MESSAGE_CHARS_MAX);
}

/** A model knows its tools, neither the operations below them nor the commands of a terminal. */
const TOOL_OF = {
  history: 'engine_history',
  status: 'engine_status',
  report: 'engine_status',
  logs: 'engine_status',
  diff: 'engine_diff',
  run: 'engine_execute',
};
/** What has options is for the person to type. */
const COMMAND = new RegExp(`\\bbosun (${Object.keys(TOOL_OF).join('|')})\\b(?! -)`, 'g');

function wordsForModel({ code, message }: BosunError): string {
  const [start = '', operation = ''] = /^(\w+): /.exec(message) ?? [];
  const words = Object.hasOwn(OPERATIONS, operation) ? message.slice(start.length) : message;
  if (code !== 'not-found' && code !== 'wrong-state') return words;
  return words.replace(COMMAND, (_, command: keyof typeof TOOL_OF) => TOOL_OF[command]);
}
