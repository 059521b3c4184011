/** What an agent's program says of itself may be anything: its run can be read all the same. */
import { expect, it } from 'vitest';
import { TestMachine } from './fixtures/shared-machine.ts';

/** An ACP agent that counts in words, and without end. */
const PROGRAM = `
const answers = {
  initialize: '{"protocolVersion":1,"agentCapabilities":{}}',
  'session/new': '{"sessionId":"s"}',
  'session/prompt':
    '{"stopReason":"end_turn","_meta":{"quota":{"token_count":{"input_tokens":"many","output_tokens":1e999}}}}',
};
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  process.stdout.write('{"jsonrpc":"2.0","id":' + JSON.stringify(id) + ',"result":' + (answers[method] ?? '{}') + '}\\n');
});
`;

it('a count that is no number is left out, and the run ends with a report', async () => {
  await using machine = new TestMachine('');
  const agents = { odd: { runtime: 'acp', command: [process.execPath, '-e', PROGRAM] } };
  const repository = await machine.repository({
    name: 'w',
    agents,
    tasks: { a: { agent: 'odd', prompt: 'Work.' } },
  });
  const { code, stdout, stderr } = await machine.bosun(repository, ['run', '--json', '--trust']).finished;
  expect([code, stderr]).toEqual([0, expect.not.stringContaining('journal')]);
  expect(stdout).toContain('"kind":"finished"');
  expect(stdout).not.toContain('"kind":"usage"');
  const logs = await machine.bosun(repository, ['logs', '--json']).finished;
  expect([logs.code, logs.stdout.split('\n').length]).toEqual([0, stdout.split('\n').length]);
});
