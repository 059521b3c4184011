/** What people are told of a run is true, also where its process is gone or a task cannot hear; Ctrl-C reaches its commands. */
import { describe, expect, it } from 'vitest';
import { openEngine } from '../../src/run/open-engine.ts';
import { bosun, BOSUN, start, startProgram } from '../fixtures/cli.ts';
import { makeRepository } from '../fixtures/repository.ts';

const WORKFLOW = `name: t
tasks:
  long: { run: echo begun; sleep 60 }
  ship: { approve: Ship it? }
  after: { needs: [ship], run: 'true' }
`;

describe('a run whose bosun process was killed', () => {
  it('is called interrupted, takes no words that nobody hears, and says how to continue', async () => {
    await using repository = await makeRepository({ files: { 'bosun.yaml': WORKFLOW } });
    const at = repository.path;
    const said = async (...args: string[]): Promise<string> => {
      const { stdout, stderr } = await bosun(at, ...args);
      return stdout + stderr;
    };
    const engine = start(at, 'run', '--verbose');
    await engine.prints('│ begun');
    // While it lives: what cannot hear is named.
    expect(await said('steer', 'long', 'hello')).toContain(
      'task long runs a plain command, which reads no messages; no agent is running now',
    );
    expect(await said('steer', 'after', 'hello')).toContain('task after is waiting: only a running agent');
    expect(await said('steer', 'lon', 'hello')).toContain('has no task lon; did you mean long?');
    const follower = start(at, 'logs', '-f');
    await follower.prints('begun');
    engine.child.kill('SIGKILL');
    const gone = 'its bosun process is gone; continue with: bosun resume t-1';
    expect((await follower.finished).stderr).toBe(`run t-1: ${gone}\n`);

    expect(await said('status')).toContain(gone);
    {
      // Another bosun that holds the lock does not drive that run.
      await using room = await openEngine(at);
      expect(await said('status')).toContain('t-1 interrupted');
      expect(room.home.top).toBe(at);
    }
    expect(await said('steer', 'long', 'hello')).toContain(`run t-1 was interrupted: ${gone}`);
    const kept = 'the answer is kept; no bosun process takes it up now, so continue with: bosun resume t-1';
    expect(await said('answer', 'yes')).toBe(`answered ship (run t-1): Ship it? yes\n${kept}\n`);
    expect(await said('answer', 'ship', 'no')).toContain(
      'ship of run t-1 is answered already: yes; continue with: bosun resume t-1',
    );
    expect(await said('cancel')).toContain('run t-1 is cancelled, its work is kept; continue with: bosun');
    expect(await said('cancel')).toContain('it is cancelled; continue with: bosun resume t-1');
    expect(await said('logs', '-f')).toMatch(
      /was interrupted: its bosun process died[^]*run t-1 has ended: cancelled\n$/,
    );
  });

  it('leaves nothing behind that its owner cannot remove', async () => {
    const files = { 'bosun.yaml': 'name: t\ntasks: { long: { run: echo begun; sleep 60 } }\n' };
    await using repository = await makeRepository({ files });
    const engine = start(repository.path, 'run', '--verbose');
    await engine.prints('│ begun');
    engine.child.kill('SIGKILL');
    await engine.finished;
    const script = 'find .git/bosun -type d ! -perm -700 && rm -rf .git/bosun';
    const removed = await startProgram(['sh', '-c', script], repository.path).finished;
    expect(removed).toEqual({ code: 0, stdout: '', stderr: '' });
  });
});

it('Ctrl-C, of which a terminal tells all processes, asks commands to end', async () => {
  const run = 'trap "echo bye > bye.txt; exit 1" TERM; echo begun; sleep 30 & wait';
  await using repository = await makeRepository({
    files: { 'bosun.yaml': `name: t\ntasks: { a: { run: '${run}' } }\n` },
  });
  const running = startProgram(['setsid', BOSUN, 'run', '--json'], repository.path);
  await running.prints('"text":"begun');
  process.kill(-running.child.pid!, 'SIGINT');
  const { code, stdout } = await running.finished;
  expect(code).toBe(3);
  expect(stdout).toContain('"changedCount":1');
});
