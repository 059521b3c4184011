/** What people said to an agent and what it gave are in the journal: another attempt has them, also under another engine. */
import { describe, expect, it } from 'vitest';
import type { Attempt } from '../src/attempt/attempt.ts';
import type { Event } from '../src/contract/event.ts';
import type { Outcome } from '../src/contract/run.ts';
import type { RequestEstimate } from '../src/contract/model.ts';
import { driveAttempts } from './fixtures/drive-attempts.ts';

const LOST: Outcome = { kind: 'lost', because: 'a helper died' };
const WORK = { tasks: { work: { run: 'true' } } };
const REQUEST: RequestEstimate = {
  provider: 'p',
  model: 'm',
  tokens: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 },
  tokensMax: 2,
  usd: 0,
  hasTools: true,
};

/** Plays attempts of one task after another; the first is spoken to as soon as it has begun. */
async function spokenTo(
  ...attempts: ((attempt: Attempt, heard: string[]) => Promise<Outcome | void>)[]
): Promise<{
  heard: string[][];
  events: Event[];
}> {
  const heard: string[][] = [];
  const events = await driveAttempts(
    WORK,
    {
      work: async (attempt) => {
        const own: string[] = [];
        heard.push(own);
        return await attempts[heard.length - 1]!(attempt, own);
      },
    },
    (event, drive) => {
      if (event.type === 'attempt.started' && event.attempt === 1) drive.steer('work', 'use zod', 'anna');
    },
  );
  return { heard, events };
}

async function ask(attempt: Attempt): Promise<void> {
  const admission = await attempt.admit(REQUEST, new AbortController().signal);
  if (!admission.isAdmitted) throw new Error(admission.message);
  const { provider, model, tokens } = REQUEST;
  admission.settle({ provider, model, tokens, usd: 0 });
}

/** Until it is there for whoever listens; nobody has got it by this. */
async function said(attempt: Attempt): Promise<void> {
  await new Promise<void>((resolve) => void attempt.onSteer(() => resolve()));
}

function readIn(events: Event[]): Event[] {
  return events.filter(({ type }) => type === 'attempt.steered');
}

describe('what a person says to an agent', () => {
  it('reaches the next attempt where this one ended before it could be told', async () => {
    const { heard } = await spokenTo(
      async (attempt, own) => {
        const stop = attempt.onSteer((text) => own.push(text));
        await expect.poll(() => own).toEqual(['use zod']);
        await ask(attempt); // it waits for the end of the agent's turn, so that this request is without it
        stop();
        return LOST;
      },
      async (attempt, own) => {
        attempt.onSteer((text, about) => {
          own.push(text);
          about?.given?.();
        });
        expect(own).toEqual(['use zod']);
        await ask(attempt);
        return LOST;
      },
      async (attempt, own) => void attempt.onSteer((text) => own.push(text)),
    );
    expect(heard).toEqual([['use zod'], ['use zod'], []]);
  });

  it('reaches an agent that begins to listen later', async () => {
    const { heard, events } = await spokenTo(async (attempt, own) => {
      await said(attempt);
      attempt.onSteer((text, about) => {
        own.push(text);
        about?.given?.();
      });
      await ask(attempt);
    });
    expect(heard).toEqual([['use zod']]);
    expect(readIn(events)).toEqual([{ type: 'attempt.steered', task: 'work', attempt: 1, steers: [1] }]);
  });

  it('is read once, also where the agent made two requests with it at a time', async () => {
    const { events } = await spokenTo(async (attempt) => {
      await said(attempt);
      attempt.onSteer((_, about) => about?.given?.());
      await Promise.all([ask(attempt), ask(attempt)]);
    });
    expect(readIn(events)).toHaveLength(1);
  });

  it('is not read with the answer to a request that was made before, and had to wait', async () => {
    const { events } = await spokenTo(async (attempt) => {
      await said(attempt);
      const asked = ask(attempt);
      attempt.onSteer((_, about) => about?.given?.());
      await asked;
    });
    expect(readIn(events)).toEqual([]);
  });
});

describe('an output that was given before the end', () => {
  it('is in the journal when it is accepted, and a command that begins anew does without it', async () => {
    const before: unknown[] = [];
    const seen: Event[] = [];
    await driveAttempts(
      { tasks: { work: { run: 'true', attempts: 2 } } },
      {
        work: async (attempt) => {
          before.push(attempt.given);
          if (before.length > 1) return { kind: 'done' };
          await attempt.give({ verdict: 'accept' });
          expect(seen.at(-1)).toEqual({
            type: 'attempt.gave',
            task: 'work',
            attempt: 1,
            output: { verdict: 'accept' },
          });
          return LOST;
        },
      },
      (event) => void seen.push(event),
    );
    expect(before).toEqual([undefined, undefined]);
  });
});
