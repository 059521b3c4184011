/** Several real agents, each with what the others did before. */
import { describe, expect, it } from 'vitest';
import { NOTHING_LEFT, RealWorld, SLOW_MS } from '../fixtures/real-world.ts';

const SPEC = 'The answer must be forty-two.\n';

describe('real agents one after the other', { timeout: SLOW_MS }, () => {
  it('hand on what they wrote: one specifies, another implements from that', async () => {
    await using world = await RealWorld.make({
      rules: [
        {
          when: { conversation: 'You are the parent' },
          answers: [{ write: { path: 'spec.md', content: SPEC } }, { text: 'specified' }],
        },
        { when: { conversation: 'You are the child', turn: 0 }, read: 'spec.md' },
        {
          when: { 'tool-result': 'must be forty-two' },
          write: { path: 'answer.txt', content: '42\n' },
        },
        { when: { turn: 1 }, text: 'there is no spec' },
      ],
    });
    const { code, events, ended } = await world.run({
      tasks: {
        parent: { agent: 'claude', prompt: 'You are the parent: write spec.md.' },
        child: { agent: 'codex', needs: ['parent'], prompt: 'You are the child: implement spec.md.' },
      },
    });
    expect(code).toBe(0);
    expect(ended('parent').output).toBe('specified');
    expect(await world.merged('spec.md')).toBe(SPEC.trim());
    expect(await world.merged('answer.txt')).toBe('42');
    expect(events.filter(({ type }) => type === 'task.merged')).toHaveLength(2);
    expect(await world.remains()).toEqual(NOTHING_LEFT);
  });

  it('design, implement and test; what a check says goes back to the same conversation', async () => {
    await using world = await RealWorld.make({
      rules: [
        {
          when: { conversation: 'Design it' },
          answers: [{ write: { path: 'design.md', content: 'add(a, b)\n' } }, { text: 'designed' }],
        },
        {
          when: { user: 'CHECK-SAYS-NO' },
          answers: [
            { text: 'too early' },
            { text: 'too early' },
            { run: "printf 'good\\n' > add.txt" },
            { text: 'mended' },
          ],
        },
        {
          when: { conversation: 'Implement it' },
          answers: [{ write: { path: 'add.txt', content: 'bad\n' } }, { text: 'implemented' }],
        },
        {
          when: { conversation: 'Test it' },
          answers: [{ run: 'cat design.md add.txt > tested.txt' }, { text: 'tested' }],
        },
      ],
    });
    const { code, events, ended } = await world.run({
      tasks: {
        design: { agent: 'claude', prompt: 'Design it.' },
        implement: {
          agent: 'codex',
          needs: ['design'],
          prompt: 'Implement it.',
          check: 'grep -q good add.txt || { echo CHECK-SAYS-NO; exit 1; }',
          attempts: 2,
        },
        test: { agent: 'claude', needs: ['implement'], prompt: 'Test it.' },
      },
    });
    expect(code).toBe(0);
    expect(ended('implement')).toMatchObject({ attempt: 2, output: 'mended' });
    const sessions = events.flatMap((event) =>
      event.type === 'attempt.agent' && event.task === 'implement' && event.event.kind === 'started'
        ? [event.event.session]
        : [],
    );
    expect(sessions).toEqual([sessions[0], sessions[0]]);
    expect(await world.merged('tested.txt')).toBe('add(a, b)\ngood');
    expect(await world.remains()).toEqual(NOTHING_LEFT);
  });
});
