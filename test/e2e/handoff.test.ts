import { describe, expect, it } from 'vitest';
import type { Event, EventOf, EventType } from '../../src/contract/event.ts';
import { bosun, eventsIn } from '../fixtures/cli.ts';
import { makeRepository, type TestRepository } from '../fixtures/repository.ts';

/** The reviewer wants to see so many lines, and says so in the way that a plain command can. */
const reviewer = (lines: number): string => `
  reviewer:
    runtime: cli
    scope: { write: [] }
    command: |
      if [ $(wc -l < code.txt) -ge ${lines} ]; then echo '{"verdict": "accept", "summary": "good"}'
      else echo 'Not yet. {"verdict": "reject", "to": "developer", "reasons": "one more line"}'; fi`;

const AGENTS = `
  architect: { runtime: cli, command: 'cat > architect.txt; echo "add lines to code.txt"' }
  developer: { runtime: cli, command: 'cat >> developer.txt; echo line >> code.txt; wc -l < code.txt' }`;

async function chain(more: string, lines: number): Promise<TestRepository> {
  const workflow = `
name: chain
agents:${AGENTS}${reviewer(lines)}
tasks:
  fix: { handoff: [architect, developer, reviewer], prompt: Write code.txt., ${more} }
  after: { needs: [fix], run: 'cp code.txt copy.txt' }
`;
  return makeRepository({ files: { 'README.md': 'one\n', 'bosun.yaml': workflow } });
}

function of<T extends EventType>(events: Event[], type: T): EventOf<T>[] {
  return events.filter((event): event is EventOf<T> => event.type === type);
}

describe('a handoff', () => {
  it('goes from agent to agent, and back to the one that a reject names, with the reasons', async () => {
    await using repository = await chain('rounds: 3', 2);
    const { code, stdout } = await bosun(repository.path, 'run', '--json');
    expect(code, stdout).toBe(0);
    const events = eventsIn(stdout);
    expect(of(events, 'task.handed').map(({ agent, rejected }) => [agent, rejected?.reasons])).toEqual([
      ['architect', undefined],
      ['developer', undefined],
      ['reviewer', undefined],
      ['developer', 'one more line'],
      ['reviewer', undefined],
    ]);
    const prompts = of(events, 'attempt.started').map(({ prompt }) => prompt);
    expect(prompts[1]).toContain('architect worked on it before you and said:\n\nadd lines to code.txt');
    expect(prompts[3]).toContain('It was sent back to you. What has to change:\n\none more line');
    const done = of(events, 'task.finished').find(({ task }) => task === 'fix');
    expect(done).toMatchObject({ outcome: { kind: 'done' }, output: expect.stringContaining('accept') });

    await bosun(repository.path, 'merge');
    expect(await repository.git('show', 'HEAD:copy.txt')).toBe('line\nline');
    const trailers = '--format=%(trailers:key=Bosun-Agent,valueonly,separator=%x2c)';
    const agents = (await repository.git('log', '--reverse', trailers)).split('\n').filter(Boolean);
    expect(agents).toEqual(['architect', 'developer', 'developer']);
  });

  it('that is sent back is not checked meanwhile: what has to change is what the agent said', async () => {
    await using repository = await chain("check: 'test $(wc -l < code.txt) -ge 2'", 2);
    const { code, stdout } = await bosun(repository.path, 'run', '--json');
    expect(code, stdout).toBe(0);
    const events = eventsIn(stdout);
    expect(of(events, 'task.handed').map(({ rejected }) => rejected?.reasons)).toContain('one more line');
    const failed = of(events, 'attempt.finished').filter(({ outcome }) => outcome.kind === 'failed');
    expect(failed).toEqual([]);
  });

  it('whose check fails after the last agent goes back to the one before, told what the check said', async () => {
    await using repository = await chain(`check: 'echo "too few" >&2; test $(wc -l < code.txt) -ge 2'`, 1);
    const { code, stdout } = await bosun(repository.path, 'run', '--json');
    expect(code, stdout).toBe(0);
    const back = of(eventsIn(stdout), 'task.handed').filter(({ rejected }) => rejected);
    expect(back).toMatchObject([{ agent: 'developer', rejected: { by: 'fix.3' } }]);
    expect(back[0]!.rejected!.reasons).toContain('too few');
  });

  it('that is rejected in its last round fails, says so, and has its rounds again when it is resumed', async () => {
    await using repository = await chain('rounds: 2', 3);
    const first = await bosun(repository.path, 'run');
    expect(first.code).toBe(1);
    const why = 'reviewer still rejects it after 2 rounds: one more line';
    expect(first.stdout).toContain(why);
    const { stdout } = await bosun(repository.path, 'status', '--json');
    expect(stdout).toContain(why);
    const again = await bosun(repository.path, 'resume');
    expect(again.code, again.stdout).toBe(0);
    expect(again.stdout).toContain('fix[developer 3]');
    expect(again.stderr).toContain('fix[developer 3]');
    expect(again.stderr).not.toMatch(/fix\.\d/);
  });

  it('ends where a turn fails for another reason than its check', async () => {
    const workflow = `
name: chain
agents: { one: { runtime: cli, command: 'exit 3' }, two: { runtime: cli, command: 'true' } }
tasks: { fix: { handoff: [one, two], prompt: Work. } }
`;
    await using repository = await makeRepository({ files: { 'bosun.yaml': workflow } });
    const { code, stdout } = await bosun(repository.path, 'run');
    expect([code, stdout]).toEqual([
      1,
      expect.stringContaining('✗ fix[one]  command failed: it ended with exit code 3'),
    ]);
  });
});
