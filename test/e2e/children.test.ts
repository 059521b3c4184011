import { describe, expect, it } from 'vitest';
import type { Event, EventOf, EventType } from '../../src/contract/event.ts';
import { bosun, eventsIn } from '../fixtures/cli.ts';
import { makeRepository, type TestRepository } from '../fixtures/repository.ts';

/** The lead is a plain command; its children write a file each, named after their prompts. */
async function crew(lead: string): Promise<TestRepository> {
  const workflow = `
name: crew
agents:
  lead:
    runtime: cli
    scope: { write: ['src/**'] }
    command: |
${lead.replaceAll(/^/gm, '      ')}
  hand: { runtime: cli, command: 'read name; mkdir -p src; echo "$name" > "src/$name.txt"; echo "wrote $name"' }
  slow: { runtime: cli, command: 'sleep 60' }
tasks:
  build: { agent: lead, prompt: Build it. }
  after: { needs: [build], run: 'ls src > listed.txt || true' }
`;
  return makeRepository({ files: { 'README.md': 'one\n', 'bosun.yaml': workflow } });
}

/** What the lead printed. */
function saidBy(events: Event[]): string {
  return JSON.stringify(of(events, 'task.finished').find(({ task }) => task === 'build')!.output);
}

function of<T extends EventType>(events: Event[], type: T): EventOf<T>[] {
  return events.filter((event): event is EventOf<T> => event.type === type);
}

describe('an agent with children', () => {
  it('waits for them when its own work is done, and what needs it has the work of all', async () => {
    await using repository = await crew(
      [
        'mkdir -p src; echo lead > src/lead.txt',
        'bosun agent spawn --agent hand one',
        'bosun agent spawn --agent hand --name second two',
      ].join('\n'),
    );
    const { code, stdout } = await bosun(repository.path, 'run', '--json');
    expect(code, stdout).toBe(0);
    const events = eventsIn(stdout);
    expect(of(events, 'child.added').map(({ task, child }) => [task, child])).toEqual([
      ['build', 'build/child-1'],
      ['build', 'build/second'],
    ]);
    const ends = of(events, 'task.finished').map(({ task, outcome }) => [task, outcome.kind]);
    expect(ends.indexOf(ends.find(([task]) => task === 'build')!)).toBe(2);
    expect(Object.fromEntries(ends)).toEqual({
      build: 'done',
      'build/child-1': 'done',
      'build/second': 'done',
      after: 'done',
    });
    await bosun(repository.path, 'merge');
    expect(await repository.git('show', 'HEAD:listed.txt')).toBe('lead.txt\none.txt\ntwo.txt');
  });

  it('gets none that may do more than it may itself, and is told why', async () => {
    await using repository = await crew(
      [
        'bosun agent spawn --agent hand --write "docs/**" one 2>&1; echo "exit $?"',
        'bosun agent spawn --agent nobody one 2>&1; echo "exit $?"',
        'bosun agent spawn --agent hand --name "../x" one 2>&1; echo "exit $?"',
      ].join('\n'),
    );
    const { code, stdout } = await bosun(repository.path, 'run', '--json');
    expect(code, stdout).toBe(0);
    const events = eventsIn(stdout);
    expect(of(events, 'child.added')).toEqual([]);
    const output = saidBy(events);
    expect(output).toMatch(/\\"docs\/\*\*\\" is more than its parent may change \(src\/\*\*\)/);
    expect(output).toMatch(/agent \\"nobody\\"/);
    expect(output.match(/exit 2/g)).toHaveLength(3);
  });

  it('that fails takes its children with it', async () => {
    await using repository = await crew('bosun agent spawn --agent slow one; exit 3');
    const { code, stdout } = await bosun(repository.path, 'run', '--json');
    expect(code, stdout).toBe(1);
    const ends = of(eventsIn(stdout), 'task.finished').map(({ task, outcome }) => [task, outcome.kind]);
    expect(ends).toEqual([
      ['build/child-1', 'cancelled'],
      ['build', 'failed'],
      ['after', 'skipped'],
    ]);
  });

  it('can cancel one of them, and nobody else’s', async () => {
    await using repository = await crew(
      [
        'bosun agent spawn --agent hand one',
        'bosun agent children',
        'bosun agent cancel-child nobody 2>&1; echo "exit $?"',
      ].join('\n'),
    );
    const { stdout } = await bosun(repository.path, 'run', '--json');
    const output = saidBy(eventsIn(stdout));
    expect(output).toContain('you have no child \\"nobody\\"; yours are child-1');
  });
});
