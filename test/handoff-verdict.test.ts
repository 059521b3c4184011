/** What agents of a handoff say of the work before, in whatever words a command has for it. */
import { describe, expect, it } from 'vitest';
import type { Json } from '../src/contract/workflow.ts';
import { rejectIn } from '../src/schedule/workflow/handoff.ts';

const sendsBack = (output: Json, form?: Record<string, Json>): boolean =>
  rejectIn(output, form ? { output: form } : {}) !== undefined;

describe('a verdict', () => {
  const NOES = ['reject', 'REJECT', ' rejected ', 'Rejected.', 'back', 'needs work', 'ok, with nits', ''];
  it.each([...NOES, false, null, 0, 1, {}])('of %j sends the work back', (verdict) => {
    expect(sendsBack({ verdict, reasons: 'Broken.' })).toBe(true);
    expect(sendsBack(`It is broken.\n{"verdict": ${JSON.stringify(verdict)}}`)).toBe(true);
  });

  it.each(['accept', 'Accepted', 'accepted.', 'approve', 'approved', 'ok', 'OK!', 'pass', true])(
    'of %j does not',
    (verdict) => {
      expect(sendsBack({ verdict })).toBe(false);
    },
  );

  it('in the form that the task asks for is no more than the words of that form', () => {
    const form = { type: 'object', properties: { verdict: { enum: ['ship', 'reject'] } } };
    expect(sendsBack({ verdict: 'ship' }, form)).toBe(false);
    expect(sendsBack({ verdict: false }, form)).toBe(false);
    expect(sendsBack({ verdict: 'reject' }, form)).toBe(true);
  });

  it('is none where nobody gave one', () => {
    expect(sendsBack('all is well')).toBe(false);
    expect(sendsBack({ done: true })).toBe(false);
  });
});
