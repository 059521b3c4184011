/** `bosun mcp` as an agent starts and uses it. */
import { describe, expect, it } from 'vitest';
import { Bosun } from '../../src/doors/library.ts';
import type { Recorded } from '../../src/contract/event.ts';
import { bosun } from '../fixtures/cli.ts';
import { connect, ERAS, overStdio } from '../fixtures/mcp-client.ts';
import { makeRepository } from '../fixtures/repository.ts';

const SHIP = `name: ship
tasks:
  one: { run: "printf 'one\\\\033[2J\\\\n' > one.txt" }
  ship: { needs: [one], approve: "Ship it?" }
  two: { needs: [ship], run: "seq 1 20000 > two.txt" }
`;
const FILES = { 'README.md': 'hello\n', 'bosun.yaml': SHIP };
const WAIT = { waitSeconds: 60 };

/** Trusted is what the tests trust: here nobody does. */
const NOBODY = { BOSUN_TRUST: '' };

describe('bosun mcp', { timeout: 120_000 }, () => {
  it.each(ERAS)('starts, waits, puts a question, shows and merges a run in revision %s', async (era) => {
    await using repository = await makeRepository({ files: FILES });
    const forms: string[] = [];
    await using agent = await connect(era, overStdio(repository.path), {
      person: ({ message }) => (forms.push(message), forms.length === 1 ? undefined : { answer: true }),
    });
    const key = { key: 'first' };
    const { run } = await agent.call('engine_execute', key);
    expect(run).toBe('ship-1');
    expect(await agent.call('engine_execute', key)).toMatchObject({ run, isRepeated: true });
    expect(await agent.refusal('engine_execute', { ...key, dirty: true })).toContain(
      'this key was used for another request, which began run ship-1',
    );
    const told: unknown[] = [];
    const asking = await agent.call('engine_status', WAIT, { onprogress: (it: unknown) => told.push(it) });
    expect(asking).toMatchObject({ run: { state: 'running', questions: [{ id: 'ship' }] } });
    // The person puts it off at first; what the agent says counts for nothing.
    expect(await agent.call('engine_answer', { answer: 'yes' })).toMatchObject({ isPending: true });
    expect(await agent.call('engine_answer', { answer: 'no' })).toMatchObject({
      answer: 'yes',
      isTaken: true,
    });
    expect(forms).toEqual(Array(2).fill('ship of run ship-1 asks: Ship it?'));
    expect(await agent.call('engine_status', WAIT)).toMatchObject({ run: { state: 'done' }, warnings: [] });
    const first = await agent.call('engine_diff');
    expect(first).toMatchObject({ fileCount: 2, nextOffset: expect.any(Number) as number });
    expect(first.patch).toContain('+one\\x1b[2J\n');
    let patch = first.patch as string;
    for (let at = first.nextOffset; at !== undefined;) {
      const page = await agent.call('engine_diff', { offset: at });
      expect((page.patch as string).length).toBeLessThanOrEqual(32 * 1024);
      patch += page.patch as string;
      at = page.nextOffset;
    }
    expect(patch.split('\n').filter((line) => /^\+\d+$/.test(line))).toHaveLength(20_000);
    const { contents } = await agent.client.readResource({ uri: `bosun://runs/${String(run)}/log` });
    expect((contents[0] as { text: string }).text).toMatch(/answered yes, by program Test-Client/);
    await expect(agent.client.readResource({ uri: 'bosun://runs/other/report' })).rejects.toThrow(
      'there is no run other',
    );
    expect((await agent.client.listResources()).resources.map(({ uri }) => uri)).toContain(
      'bosun://runs/ship-1/report',
    );
    expect(await agent.call('engine_merge', { squash: true })).toMatchObject({
      kind: 'squashed',
      commits: 2,
    });
    expect(await repository.git('show', 'HEAD:one.txt')).toContain('one');
    const { event } = (await eventsOf(repository.path)).find(
      ({ event: { type } }) => type === 'question.answered',
    )!;
    expect(event).toMatchObject({ by: 'program Test-Client', note: 'given in the form of the client' });
  });

  it('leaves a run at work when its agent is killed, and the next one pauses, steers and cancels it', async () => {
    const slow = 'name: slow\ntasks: { wait: { run: "sleep 300" }, last: { needs: [wait], run: "true" } }\n';
    await using repository = await makeRepository({ files: { ...FILES, 'slow.yaml': slow } });
    const transport = overStdio(repository.path);
    const killed = await connect('2025-11-25', transport);
    await killed.call('engine_execute', { file: 'slow.yaml' });
    process.kill(transport.pid!, 'SIGKILL');
    await using agent = await connect('2026-07-28', overStdio(repository.path));
    expect(await agent.call('engine_status')).toMatchObject({ run: { id: 'slow-1', state: 'running' } });
    const paused = await agent.call('engine_interrupt', { action: 'pause' });
    expect(paused).toMatchObject({ run: 'slow-1', state: 'paused' });
    expect(await agent.call('engine_status', WAIT)).toMatchObject({ run: { state: 'paused' } });
    expect(await agent.call('engine_interrupt', { action: 'resume' })).toMatchObject({ state: 'running' });
    const steer = { action: 'steer', task: 'wait', text: 'faster' };
    expect(await agent.refusal('engine_interrupt', steer)).toContain('runs a plain command');
    const cancelled = await agent.call('engine_interrupt', { action: 'cancel', now: true });
    expect(cancelled).toMatchObject({ run: 'slow-1', state: 'cancelled' });
    // Driven anew in a process of its own.
    await agent.call('engine_interrupt', { action: 'resume', run: 'slow-1' });
    expect(await agent.call('engine_history')).toMatchObject({ runs: [{ id: 'slow-1', state: 'running' }] });
    await agent.call('engine_interrupt', { action: 'cancel', now: true });
    expect(await bysOf(repository.path)).toContain('run.resumed program Test-Client');
  });

  it('gives no trust: what reaches beyond the repository is refused, however it is put', async () => {
    const reaching = {
      name: 'far',
      tasks: {
        a: { agent: { runtime: 'cli', command: 'true', scope: { network: ['example.com'] } }, prompt: 'x' },
      },
    };
    const module = 'process.kill(process.ppid); export default {};\n';
    const files = { ...FILES, 'far.yaml': JSON.stringify(reaching), 'code.ts': module };
    await using repository = await makeRepository({ files });
    await using agent = await connect('2025-11-25', overStdio(repository.path, { BOSUN_TRUST: '1' }));
    for (const input of [{ file: 'far.yaml' }, { workflow: reaching }, { file: 'code.ts' }]) {
      const refusal = await agent.refusal('engine_execute', input);
      expect(refusal).toMatch(/^not-trusted: .*bosun trust .*Only the person can agree to that/s);
    }
    expect(await agent.refusal('engine_execute', { prompt: 'x', trust: true })).toContain(
      'trust is not a field',
    );
    expect(
      await agent.refusal('engine_execute', { workflow: { name: 'x', tasks: { a: { need: 1 } } } }),
    ).toContain('invalid-workflow: ');
    expect(await agent.call('engine_history')).toEqual({ runs: [] });
  });

  it('hands back a question that no client can put, and takes the answer that the person gave the agent', async () => {
    await using repository = await makeRepository({ files: FILES });
    await using agent = await connect('2025-11-25', overStdio(repository.path, NOBODY));
    await agent.call('engine_execute');
    await agent.call('engine_status', WAIT);
    const pending = await agent.call('engine_answer');
    expect(pending).toMatchObject({ isPending: true, text: 'Ship it?' });
    expect(pending.next).toEqual([expect.stringContaining('bosun answer ship yes|no --run ship-1')]);
    expect(await agent.refusal('engine_answer', { answer: 'maybe' })).toContain('expected yes or no');
    const note = `given in the form of the client\n${'x'.repeat(5000)}`;
    expect(await agent.call('engine_answer', { answer: 'no', note })).toMatchObject({
      answer: 'no',
      isTaken: true,
    });
    const answered = (await eventsOf(repository.path)).find(
      ({ event: { type } }) => type === 'question.answered',
    )!.event as { note: string };
    expect(answered.note).toMatch(
      /^passed on by the agent; the agent notes: given in the form of the client; x+… \(\d+ more characters\)$/,
    );
    expect(answered.note.length).toBeLessThan(2200);
    expect(await agent.call('engine_status', WAIT)).toMatchObject({ run: { state: 'failed' } });
    expect(await agent.refusal('engine_answer', { answer: 'yes' })).toContain('has no open question');
  });

  it('goes past a budget that is not hard with a warning in the journal, and stops at a hard one', async () => {
    const workflow = (enforce: string): object => ({
      name: enforce,
      budget: { minutes: 0.002, enforce },
      tasks: { wait: { run: 'sleep 3' } },
    });
    await using repository = await makeRepository({ files: FILES });
    await using agent = await connect('2026-07-28', overStdio(repository.path, NOBODY));
    await agent.call('engine_execute', { workflow: workflow('ask') });
    const ended = await agent.call('engine_status', WAIT);
    expect(ended).toMatchObject({ run: { state: 'done' } });
    expect((ended.warnings as string[])[0]).toMatch(
      /^The run has used .* minutes of .* and went on, since nobody/,
    );
    expect(await agent.call('engine_budget')).toMatchObject({ warnings: ended.warnings });
    const status = await bosun(repository.path, 'status');
    expect(status.stdout).toMatch(/! The run has used .* and went on, since nobody was to be asked/);
    const raised = (await eventsOf(repository.path)).filter(({ event }) => event.type === 'attempt.answered');
    expect(raised[0]!.event).toMatchObject({ answer: 'yes', by: 'policy' });
    const { contents } = await agent.client.readResource({ uri: 'bosun://runs/ask-1/log' });
    expect((contents[0] as { text: string }).text).toContain('WARNING: the run has used');
    await agent.call('engine_execute', { workflow: workflow('hard') });
    expect(await agent.call('engine_status', WAIT)).toMatchObject({
      run: { state: 'cancelled', because: 'budget' },
      next: [
        expect.stringContaining('a person can raise its budget'),
        expect.any(String),
        expect.any(String),
      ],
    });
  });
});

async function eventsOf(cwd: string): Promise<Recorded[]> {
  const events: Recorded[] = [];
  for await (const page of new Bosun(cwd).events()) events.push(...page);
  return events;
}

async function bysOf(cwd: string): Promise<string[]> {
  return (await eventsOf(cwd)).flatMap(({ event }) => ('by' in event ? [`${event.type} ${event.by}`] : []));
}
