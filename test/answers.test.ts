/** Of those who answer the same question the first counts; whoever comes later is told who was first, and what they said. */
import { expect, test } from 'vitest';
import { Bosun } from '../src/doors/library.ts';
import { workflow } from '../src/index.ts';
import type { BosunError } from '../src/contract/errors.ts';
import type { EventOf } from '../src/contract/event.ts';
import { makeRepository } from './fixtures/repository.ts';

const ASKING = workflow({ name: 'ask', tasks: { ask: { approve: 'Go on?' } } });

async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

test('of two answers at the same time one counts, one is in the journal, and the other person is told so', async () => {
  await using repository = await makeRepository();
  await using anna = new Bosun(repository.path, { name: 'anna' });
  await using ben = new Bosun(repository.path, { name: 'ben' });
  for (let round = 0; round < 5; round++) {
    const live = await anna.run(ASKING);
    await until(async () => (await anna.questions()).find(({ run }) => run === live.id));
    const said = await Promise.allSettled([
      anna.answer('yes', undefined, live.id),
      ben.answer('no', undefined, live.id),
    ]);
    await live.finished;
    const answered = [];
    for await (const page of anna.events(live.id, { types: ['question.answered'] })) answered.push(...page);
    expect(answered).toHaveLength(1);
    const event = answered[0]!.event as EventOf<'question.answered'>;
    const counted = said.filter(({ status }) => status === 'fulfilled');
    const refused = said.flatMap((each) => (each.status === 'rejected' ? [each.reason as BosunError] : []));
    expect(counted, 'one of them counted').toHaveLength(1);
    expect(refused[0]).toMatchObject({
      code: 'wrong-state',
      data: { answered: { answer: event.answer, by: event.by } },
    });
    expect(refused[0]!.message).toContain(`answered already: ${event.answer}`);
    expect(event.by).toBe(said[0].status === 'fulfilled' ? 'program anna' : 'program ben');
  }
});

test('an answer that was meant for an earlier asking is refused', async () => {
  await using repository = await makeRepository();
  await using bosun = new Bosun(repository.path, { name: 'anna' });
  const live = await bosun.run(ASKING);
  const question = await until(async () => (await bosun.questions()).find(({ run }) => run === live.id));
  const { askedAtMs, id } = question;
  await expect(bosun.answer('yes', id, live.id, { askedAtMs: askedAtMs - 1 })).rejects.toMatchObject({
    code: 'wrong-state',
    message: expect.stringContaining('was asked again since'),
  });
  expect(await bosun.answer('yes', id, live.id, { askedAtMs })).toMatchObject({ isTaken: true });
  expect((await live.finished).state).toBe('done');
});
