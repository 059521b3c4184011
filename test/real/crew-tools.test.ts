/** Every runtime's agents use the crew's tools, as tools of their model, inside their fences. */
import { expect, it } from 'vitest';
import { Bosun } from '../../src/doors/library.ts';
import { AGENTS, NOTHING_LEFT, RealWorld, SLOW_MS, type Script } from '../fixtures/real-world.ts';

type Answers = NonNullable<NonNullable<Script['rules']>[number]['answers']>;

const NAMES = Object.keys(AGENTS) as (keyof typeof AGENTS)[];
/** Plain commands are the fifth runtime: they have the same tools as a command. */
const HAND = `set -e
bosun agent wait-for publication claude-api --timeout 100s > met.txt
bosun agent send hub 'hello from hand' > /dev/null
bosun agent report-progress 50 'half of it'
echo hand > hand.txt
bosun agent publish hand-api --value hand-value
bosun agent spawn --name helper --wait 100s 'printf child > child-of-hand.txt'
bosun agent outputs plan | grep -o 'plan (done' > outputs.txt
bosun agent done '"done by hand"'
exit # what else its prompt says is nothing for a shell`;
/** Waits for a message of each of them. */
const HUB = `for n in $(seq ${NAMES.length + 1}); do
  bosun agent wait-for message --timeout 100s > /dev/null 2>&1
  bosun agent inbox
done | grep -o 'hello from [a-z-]*' | sort`;

/** What a model does, turn after turn; each agent in a conversation of its own. */
function turnsOf(name: string): Answers {
  const call = (tool: string, input: Record<string, string | number | boolean>): Answers[number] => ({
    tools: [{ name: tool, input }],
  });
  return [
    call('send', { to: 'hub', message: `hello from ${name}` }),
    call('inbox', { wait: 60 }),
    call('wait_for', { for: 'publication', name: 'told', timeout: 100 }),
    call('ask', { question: `Which word is for ${name}?`, text: true, timeout: 100 }),
    call('report_progress', { percent: 50, text: `half of ${name}` }),
    { write: { path: `${name}.txt`, content: `${name}\n` } },
    call('publish', { name: `${name}-api`, value: `${name}-value` }),
    call('spawn', { prompt: `You are a child of ${name}.`, wait: 100 }),
    call('outputs', { name: 'plan' }),
    call('done', { output: `done by ${name}` }),
    { text: 'the end' },
  ];
}

/** A person who answers each question as soon as it is asked. */
async function answerAll(repository: string, signal: AbortSignal): Promise<void> {
  await using bosun = new Bosun(repository, { name: 'anna' });
  while (!signal.aborted) {
    for (const { id, text } of await bosun.questions().catch(() => []))
      await bosun.answer(text.replace('Which word is', 'the word').replace('?', ''), id).catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Whether an agent's model was given a text, in the conversation of that agent. */
function wasHeard(world: RealWorld, name: string, said: string): boolean {
  return world.asks
    .map(({ body }) => JSON.stringify(body))
    .some((body) => body.includes(`You are the agent ${name}.`) && body.includes(said));
}

it(
  'agents of all runtimes send, wait, ask, publish, spawn and read what others produced',
  { timeout: 3 * SLOW_MS },
  async () => {
    await using world = await RealWorld.make({
      rules: NAMES.flatMap((name) => [
        {
          when: { conversation: `You are a child of ${name}.` },
          answers: [
            { write: { path: `child-of-${name}.txt`, content: 'child\n' } },
            { text: 'child is done' },
          ],
        },
        { when: { conversation: `You are the agent ${name}.` }, answers: turnsOf(name) },
      ]),
    });
    const answering = new AbortController();
    const answered = answerAll(world.repository.path, answering.signal);
    const { code, events, ended, printed } = await world.run({
      concurrency: 20,
      agents: { shell: { runtime: 'cli', command: ['sh', '-c', '{prompt}'] } },
      tasks: {
        plan: { run: 'echo the plan > plan.txt; echo planned' },
        hub: { needs: ['plan'], run: HUB },
        greeter: {
          needs: ['plan'],
          run: NAMES.map((name) => `bosun agent send ${name} 'for ${name}'`).join('\n'),
        },
        teller: {
          needs: ['plan'],
          run: "sleep 2; bosun agent publish told --value 'told by the teller'",
          publishes: ['told'],
        },
        hand: { needs: ['plan'], agent: 'shell', prompt: HAND, publishes: ['hand-api'] },
        ...Object.fromEntries(
          NAMES.map((name) => [
            name,
            {
              needs: ['plan'],
              agent: name,
              prompt: `You are the agent ${name}.`,
              publishes: [`${name}-api`],
            },
          ]),
        ),
        reader: {
          needs: [...NAMES, 'hand'].map((name) => `api:${name}-api`),
          run: 'ls *.txt | sort',
        },
      },
    });
    answering.abort();
    await answered;
    const all = [...NAMES, 'hand'];
    for (const name of all)
      expect(ended(name), name).toMatchObject({ outcome: { kind: 'done' }, output: `done by ${name}` });
    expect(code).toBe(0);
    expect(printed('hub').trim().split('\n')).toEqual(all.map((name) => `hello from ${name}`).toSorted());
    expect(printed('reader').split('\n')).toEqual(expect.arrayContaining(all.map((name) => `${name}.txt`)));
    for (const name of NAMES) {
      expect(await world.merged(`child-of-${name}.txt`), name).toBe('child');
      expect(events, name).toContainEqual(
        expect.objectContaining({ type: 'attempt.progress', task: name, percent: 50 }),
      );
      const read = events.filter((event) => event.type === 'message.read' && event.task === name);
      expect(read.length, name).toBeGreaterThan(0);
      for (const said of [`the word for ${name}`, 'told by the teller'])
        expect(wasHeard(world, name, said), `${name} heard: ${said}`).toBe(true);
    }
    expect(await world.merged('child-of-hand.txt')).toBe('child');
    expect(await world.remains()).toEqual(NOTHING_LEFT);
  },
);
