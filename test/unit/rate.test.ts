import { expect, it } from 'vitest';
import { Rate } from '../../src/doors/http/rate.ts';

it('forgets who has said nothing for longest, and never who asks all the time', () => {
  const rate = new Rate({ burst: 1, perSecond: 0.001 }, () => 0);
  expect(rate.take('busy')).toBe(0);
  for (let n = 0; n < 20_000; n++) {
    rate.take(`other-${n}`);
    expect(rate.take('busy'), `after ${n} others`).toBeGreaterThan(0);
  }
  expect(rate.take('other-0')).toBe(0); // it was forgotten
});
