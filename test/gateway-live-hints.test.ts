/** How long a provider asks to wait, in all the ways in which they say it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { hintMs, isQuotaSpent } from '../src/gateway/live/retry-hints.ts';
import { KeyLane, type Turn } from '../src/gateway/live/key-lane.ts';

const NOW = Date.parse('2026-11-16T02:00:00.500Z');
const hint = (headers: Record<string, string>, body = ''): number | undefined =>
  hintMs({ status: 429, headers, body: Buffer.from(body) }, NOW);

describe('a hint', () => {
  it.each([
    ['seconds', { 'retry-after': '7' }, 7000],
    ['a part of a second', { 'retry-after': '0.25' }, 250],
    ['milliseconds, which are more exact', { 'retry-after': '1', 'retry-after-ms': '350' }, 350],
    ['a date', { 'retry-after': 'Mon, 16 Nov 2026 02:00:03 GMT' }, 2500],
    [
      'a date by a clock that differs from ours',
      { 'retry-after': 'Mon, 16 Nov 2026 05:00:03 GMT', date: 'Mon, 16 Nov 2026 05:00:00 GMT' },
      3000,
    ],
    ['a date that has passed', { 'retry-after': 'Mon, 16 Nov 2026 01:00:00 GMT' }, 0],
    [
      'the last reset of what is used up',
      {
        'anthropic-ratelimit-requests-remaining': '0',
        'anthropic-ratelimit-requests-reset': '2026-11-16T02:00:10Z',
        'anthropic-ratelimit-input-tokens-remaining': '0',
        'anthropic-ratelimit-input-tokens-reset': '2026-11-16T02:00:20Z',
        'anthropic-ratelimit-output-tokens-remaining': '800',
        'anthropic-ratelimit-output-tokens-reset': '2026-11-16T02:59:00Z',
      },
      19_500,
    ],
    ['a duration', { 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '1m2.5s' }, 62_500],
    ['a short duration', { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '17ms' }, 17],
    ['a moment in ms', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': `${NOW + 4000}` }, 4000],
    ['a moment in s', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1794794405' }, 4500],
  ])('may be %s', (_, headers, ms) => expect(hint(headers as never)).toBe(ms));

  it('may stand in the body, as Gemini has it', () => {
    expect(hint({}, '{"error":{"details":[{"retryDelay": "34.5s"}]}}')).toBe(34_500);
  });

  it.each([
    ['seconds', '"resets_in_seconds": 3600', 3_600_000],
    ['a moment', '"resets_at": 1794798000', 3_599_500],
    ['both, seconds first', '"resets_in_seconds": 60, "resets_at": 1794798000', 60_000],
  ])('may be %s in the body, as ChatGPT says when a plan is used up', (_, said, ms) => {
    expect(hint({}, `{"error":{"type":"usage_limit_reached",${said}}}`)).toBe(ms);
  });

  it.each([
    ['nothing', {}],
    ['words', { 'retry-after': 'soon' }],
    ['a negative number', { 'retry-after': '-5' }],
    ['years', { 'retry-after': '999999999' }],
    [
      'a reset while something remains',
      { 'x-ratelimit-remaining-tokens': '5', 'x-ratelimit-reset-tokens': '1s' },
    ],
  ])('is not made out of %s', (_, headers) => expect(hint(headers as never)).toBeUndefined());
});

it('an account without money is told from one that is too quick', () => {
  const is = (body: string): boolean => isQuotaSpent({ status: 429, headers: {}, body: Buffer.from(body) });
  expect(is('{"error":{"type":"insufficient_quota"}}')).toBe(true);
  expect(is('{"error":{"type":"rate_limit_error"}}')).toBe(false);
});

describe('how many go at once', () => {
  const signal = new AbortController().signal;

  function world(concurrencyMax: number) {
    let nowMs = 1000;
    const patience = new KeyLane({
      provider: 'up',
      concurrencyMax,
      patienceMs: 60_000,
      nowMs: () => nowMs,
      random: () => 0,
    });
    const turn = (): Turn => ({ run: 'demo-1', task: 'a', signal });
    return { patience, turn, pass: (ms: number) => (nowMs += ms), now: () => nowMs };
  }

  it('is halved by a refusal, once for all that were under way, and grows again with success', () => {
    const { patience, turn, pass, now } = world(8);
    const turns = Array.from({ length: 8 }, turn);
    for (const each of turns) expect(patience.enter(each)).toBeUndefined();
    const sentMs = now();
    pass(10);
    for (const each of turns) {
      expect(patience.refused(each, sentMs, 100, 'why')).toBeUndefined();
      patience.leave();
    }
    pass(200);
    const goes = (): number => {
      let count = 0;
      while (patience.enter(turn()) === undefined) count++;
      for (let n = 0; n < count; n++) patience.leave(); // the one that waits goes, and stays
      return count;
    };
    expect(goes()).toBe(4);
    for (let n = 0; n < 40; n++) patience.succeeded();
    expect(goes()).toBe(7); // 8, of which the one that waited has one
  });

  it('has a limit on those that wait', () => {
    const { patience, turn } = world(1);
    expect(patience.enter(turn())).toBeUndefined();
    const all: Promise<unknown>[] = [];
    const fill = (): void => {
      for (let n = 0; n < 10_000; n++)
        all.push(patience.enter({ ...turn(), signal: new AbortController().signal })!);
    };
    expect(fill).toThrow(
      '4096 requests already wait for up; run fewer agents at once, or raise providers.up.concurrency',
    );
    expect(all).toHaveLength(4096);
    const ended = Promise.allSettled(all);
    patience[Symbol.dispose]();
    return ended;
  });

  it('does not make one impatient that only waits while others get on', async () => {
    const { patience, turn, pass, now } = world(1);
    expect(patience.enter(turn())).toBeUndefined();
    const refused = turn();
    const waiting = patience.enter({ ...turn(), task: 'b' })!;
    let isLost = false;
    waiting.catch(() => (isLost = true));
    for (let n = 0; n < 5; n++) {
      expect(patience.refused(refused, now(), 20_000, 'why') === undefined).toBe(n < 3);
      pass(20_000);
      patience.succeeded();
    }
    await sleep(1);
    expect(isLost).toBe(false);
    patience[Symbol.dispose]();
  });
});
