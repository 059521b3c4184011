/** How an attempt ended, in a few words. */
import type { EventOf } from '../../../../src/contract/event.ts';
import { count } from '../../../../src/report/words.ts';

export function endOf({ outcome, collected }: EventOf<'attempt.finished'>): { text: string; tone: string } {
  switch (outcome.kind) {
    case 'done': {
      const { changedCount = 0, outside } = collected ?? {};
      const left = outside ? `, ${outside.count} outside its scope` : '';
      return { text: `Done · ${count(changedCount, 'file')} changed${left}`, tone: 'good' };
    }
    case 'failed': {
      const [message = ''] = outcome.message.split('\n');
      const what = WHAT_FAILED[outcome.reason] ?? 'Failed';
      if (message.startsWith('the check ')) return { text: `T${message.slice(1)}`, tone: 'bad' };
      return { text: message === '' ? what : `${what} · ${message}`, tone: 'bad' };
    }
    case 'cancelled':
      return { text: 'Cancelled; its work is kept', tone: 'still' };
    default:
      return { text: outcome.because ?? 'Ended with its engine; it counts for nothing', tone: 'still' };
  }
}

const WHAT_FAILED: Record<string, string> = {
  check: 'Check failed',
  timeout: 'Out of time',
  limit: 'Past a limit',
  output: 'Wrong output',
  conflict: 'Conflict',
  setup: 'No workspace',
};
