/** The library as a program uses it: agents as values, events one by one, questions, and a close that waits. */
import { expect, it } from 'vitest';
import { agent, Bosun, workflow } from '../src/index.ts';
import { makeRepository } from './fixtures/repository.ts';

it('an agent that makes no sense is refused with the path of each problem', () => {
  const made = () => agent({ runtime: 'codexx', limits: { minutes: 0 } } as never);
  expect(made).toThrow('runtime: "runtime" must be one of');
  expect(made).toThrow('did you mean "codex"?');
  expect(made).toThrow('limits.minutes: "limits.minutes" must be more than 0');
  expect(() => agent({ promt: 'x' } as never)).toThrow(
    'unknown field "promt" in the agent; did you mean "prompt"?',
  );
});

it('an agent is the same in every workflow that names it', () => {
  const lead = agent({ runtime: 'codex', model: 'm' });
  const by = workflow({ name: 'a', agents: { lead }, tasks: { a: { agent: 'lead', prompt: 'x' } } });
  const inline = workflow({ name: 'b', tasks: { a: { agent: lead, prompt: 'x' } } });
  expect(by.agents['lead']).toEqual({ runtime: 'codex', model: 'm' });
  expect(inline.tasks['a']!.agent).toEqual(by.agents['lead']);
});

it('events come one by one until the run ends, a question is found, and close cancels what is at work', async () => {
  await using repository = await makeRepository();
  const bosun = new Bosun(repository.path);
  const asks = workflow({
    name: 'asks',
    tasks: { a: { run: 'echo x' }, b: { needs: ['a'], approve: 'Go on?' } },
  });
  const live = await bosun.run(asks);
  const seen: string[] = [];
  for await (const { event, seq } of bosun.watch(live.id)) {
    seen.push(`${seq} ${event.type}`);
    if (event.type !== 'question.asked') continue;
    expect(await bosun.questions()).toMatchObject([{ run: live.id, task: 'b', text: 'Go on?' }]);
    await bosun.answer('yes');
  }
  expect(seen[0]).toBe('1 run.created');
  expect(seen.at(-1)).toMatch(/ run\.finished$/);
  expect(seen.length).toBe(Number(seen.at(-1)!.split(' ')[0]));
  expect((await live.finished).state).toBe('done');

  const stuck = await bosun.run(asks);
  const stop = new AbortController();
  const look = (async () => {
    for await (const { event } of bosun.watch(stuck.id, { signal: stop.signal }))
      if (event.type === 'question.asked') stop.abort();
  })();
  await look.catch((error: Error) => expect(error.name).toBe('AbortError'));
  expect(stop.signal.aborted).toBe(true);
  expect((await bosun.status(stuck.id)).run.state).toBe('running');
  await bosun.close();
  expect((await stuck.finished).state).toBe('cancelled');
});
