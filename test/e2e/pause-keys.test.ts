/** The live view in a real terminal: its keys pause, let go on, and send messages to agents. */
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { bosun } from '../fixtures/cli.ts';
import { makeRepository } from '../fixtures/repository.ts';
import { openTerminal } from '../fixtures/terminal.ts';

const AGENT = `[node, ${path.resolve('test/fixtures/acp-agent-program.ts')}]`;
const LONG = 'a-task-with-a-very-long-name-that-does-not-fit-anywhere';
const WORKFLOW = `
name: keys
isolation: best-effort
tasks:
  ${LONG}: { prompt: inquires, agent: { runtime: acp, command: ${AGENT} } }
  nap: { run: sleep 600 }
`;

describe('the live view', { timeout: 60_000 }, () => {
  it('pauses and continues the run with p, and sends the only agent a message with s', async () => {
    await using repository = await makeRepository({ files: { 'bosun.yaml': WORKFLOW } });
    const run = await bosun(repository.path, 'run', '--detach', '--unfenced');
    expect(run.code).toBe(0);
    await using terminal = await openTerminal(['attach', 'keys-1'], {
      cwd: repository.path,
      columns: 80,
      rows: 20,
    });
    await terminal.shows('p pause · s message');
    await terminal.press('p');
    await terminal.shows(/⏸ keys-1 +paused/);
    await terminal.shows('p resume');
    await terminal.press('p');
    await terminal.shows('p pause');
    await terminal.press('s');
    await terminal.shows(/^to a-task-with-a-very-long…: ▏ enter sends · esc leaves/m);
    await terminal.press('-l', 'never mind');
    await terminal.shows('never mind');
    await terminal.press('Escape');
    await terminal.shows('p pause · s message');
    await terminal.press('s');
    await terminal.shows('enter sends'); // what comes together was pasted, and is no key
    await terminal.press('-l', 'Use the \u001b[31mparser');
    await terminal.shows('parser▏');
    await terminal.press('Enter');
    await terminal.shows(`message queued for ${LONG}`);
    await terminal.press('C-c');
    await terminal.shows('detached');
    const { stdout } = await bosun(repository.path, 'logs');
    expect(stdout).toMatch(/says: Use the .*parser/);
    expect(stdout).not.toContain('never mind');
    expect(stdout).toMatch(/paused by/);
    expect(stdout).toMatch(/continues, says/);
    expect((await bosun(repository.path, 'cancel', '--now')).code).toBe(0);
  });

  it('pauses the task that is opened, and says who takes messages where nobody does', async () => {
    const workflow = 'name: two\ntasks: { one: { run: sleep 600 }, two: { needs: [one], run: "true" } }\n';
    await using repository = await makeRepository({ files: { 'bosun.yaml': workflow } });
    await using terminal = await openTerminal(['run'], { cwd: repository.path, columns: 120 });
    await terminal.shows('p pause');
    await terminal.press('s');
    await terminal.shows('no agent is running that a message could be sent to');
    await terminal.press('x');
    await terminal.shows('x does nothing here · ? shows the keys');
    await terminal.press('?');
    await terminal.shows('keys: ↑↓ enter open · esc back · d diff · p pause · s message · Ctrl-C stop');
    await terminal.press('Down', 'Down', 'Enter');
    await terminal.shows('d diff · esc back · p pause · Ctrl-C stops');
    await terminal.press('p');
    await terminal.shows('⏸ paused  two');
    await terminal.shows('p resume');
    await terminal.press('Escape');
    await terminal.shows(/⏸ paused +two +by \S+, .* ago/);
    await terminal.press('C-c');
    await terminal.shows('exit 3');
  });
});
