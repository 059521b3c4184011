import { describe, expect, it } from 'vitest';
import type { Event, EventOf, EventType } from '../../src/contract/event.ts';
import { bosun, eventsIn, start } from '../fixtures/cli.ts';
import { makeRepository, type TestRepository } from '../fixtures/repository.ts';

const AGENTS = `agents: { ci: { runtime: cli, command: 'cat > prompt.txt; ls *.txt > list.txt' } }`;

function repositoryWith(workflow: string): Promise<TestRepository> {
  return makeRepository({ files: { 'one.txt': 'one\n', 'bosun.yaml': workflow } });
}

function of<T extends EventType>(events: Event[], type: T): EventOf<T>[] {
  return events.filter((event): event is EventOf<T> => event.type === type);
}

describe('a continuous task', () => {
  it('has a round when another task is done, from all that is merged, and a final one at the end', async () => {
    await using repository = await repositoryWith(`
name: watch
${AGENTS}
tasks:
  a: { run: 'sleep 0.5; echo a > a.txt' }
  b: { needs: [a], run: 'sleep 0.5; echo b > b.txt' }
  ci: { agent: ci, prompt: Look., continuous: { on: [task-completed] }, finalize: Finish. }
`);
    const { code, stdout } = await bosun(repository.path, 'run', '--json');
    expect(code, stdout).toBe(0);
    const events = eventsIn(stdout);
    const why = of(events, 'task.round').map((event) => event.why);
    expect([why[0], why[1], why.at(-1)]).toEqual(['first', 'on', 'final']);
    const own = of(events, 'attempt.started').filter(({ task }) => task.startsWith('ci.'));
    expect([own[0]!.prompt, own.at(-1)!.prompt]).toEqual(['Look.', 'Finish.']);
    await bosun(repository.path, 'merge');
    expect(await repository.git('show', 'HEAD:list.txt')).toBe('a.txt\nb.txt\nlist.txt\none.txt\nprompt.txt');
    expect(await repository.git('show', 'HEAD:prompt.txt')).toBe('Finish.');
  });

  it('has its final round also where another task failed', async () => {
    await using repository = await repositoryWith(`
name: watch
${AGENTS}
tasks:
  bad: { run: 'sleep 0.3; exit 4' }
  ci: { agent: ci, prompt: Look., continuous: { every: 1h }, finalize: Finish. }
`);
    const { code, stdout } = await bosun(repository.path, 'run', '--json');
    expect(code).toBe(1);
    const events = eventsIn(stdout);
    expect(of(events, 'task.round').map(({ why }) => why)).toEqual(['first', 'final']);
    const ended = of(events, 'task.finished').find(({ task }) => task === 'ci');
    expect(ended?.outcome).toEqual({ kind: 'done' });
  });

  it('that keeps failing backs off, and fails in the end', async () => {
    await using repository = await repositoryWith(`
name: watch
tasks:
  rest: { run: sleep 3 }
  ci: { run: exit 5, continuous: { every: 10ms } }
`);
    const { code, stdout } = await bosun(repository.path, 'run', '--json');
    expect(code).toBe(1);
    const events = eventsIn(stdout);
    expect(of(events, 'task.resting').map(({ delayMs }) => delayMs)).toEqual([2000, 4000]);
    const ended = of(events, 'task.finished').find(({ task }) => task === 'ci');
    expect(ended?.outcome).toMatchObject({ message: 'ci[round 2] failed: it ended with exit code 5' });
  });

  it('waits for its next round again after its engine was killed', async () => {
    await using repository = await repositoryWith(`
name: watch
tasks:
  rest: { run: test -e one.txt && sleep 2 }
  ci: { run: 'true', continuous: { every: 300ms } }
`);
    const first = start(repository.path, 'run', '--json');
    await first.prints('"type":"task.resting"');
    first.child.kill('SIGKILL');
    await first.finished;
    const { code, stdout } = await bosun(repository.path, 'resume', '--json');
    expect(code, stdout).toBe(0);
    const again = eventsIn(stdout);
    const resumed = again.findLastIndex(({ type }) => type === 'run.isolation');
    expect(of(again.slice(resumed), 'task.round').length).toBeGreaterThan(1);
  });
});
