import { expect, it } from 'vitest';
import type { FollowedEvent } from '../../src/contract/outputs.ts';
import { EventFrame } from '../../src/doors/http/event-frame.ts';

it('an event is spelt out once, however many read it in streams of one or of all repositories', () => {
  let spelt = 0;
  const event = { type: 'run.resumed', toJSON: () => ({ type: `spelt ${++spelt} times` }) };
  const frame = new EventFrame('shop', { cursor: '1.1', run: 'x-1', event } as unknown as FollowedEvent);
  for (let reader = 0; reader < 3; reader++) {
    expect(frame.data.toString()).toBe(
      'data: {"repository":"shop","run":"x-1","event":{"type":"spelt 1 times"}}\n\n',
    );
    expect(frame.whole.toString()).toMatch(/^id: 1\.1\ndata: /);
  }
  expect(spelt).toBe(1);
});
