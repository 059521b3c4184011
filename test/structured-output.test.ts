import type { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { HelperDied } from '../src/contract/errors.ts';
import { outputProblem } from '../src/runtime/output/structured-output.ts';

let last: Worker | undefined;
process.on('worker', (worker: Worker) => (last = worker));

test('outputs that come at once are all checked, one right after the other', async () => {
  const schema = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] };
  const outputs = [{ a: 1 }, { a: 2 }, {}, { a: 3 }];
  const found = await Promise.all(outputs.map((output) => outputProblem(schema, output)));
  expect(found).toEqual([undefined, undefined, expect.stringMatching(/^a: /), undefined]);
});

test('a schema that takes for ever holds no other output up for long', async () => {
  await outputProblem({ type: 'number' }, 1); // the thread is there
  const hostile = outputProblem({ type: 'string', pattern: '^(a+)+$' }, `${'a'.repeat(40)}!`);
  let isOver = false;
  void hostile.then(() => (isOver = true));
  expect(await outputProblem({ type: 'number' }, 'x')).toMatch(/expected number/i);
  expect(isOver, 'the slow one is still at it').toBe(false);
  expect(await hostile).toContain('it took more than 3 seconds');
});

test('a thread that dies is started again, and is no fault of the output', async () => {
  const kill = (worker: Worker): void => void worker.terminate();
  await last?.terminate();
  process.once('worker', kill);
  expect(await outputProblem({ type: 'number' }, 1), 'dies while it starts').toBeUndefined();
  const second = last!;
  await second.terminate();
  process.on('worker', kill);
  await expect(outputProblem({ type: 'number' }, 1), 'dies each time').rejects.toThrow(HelperDied);
  process.off('worker', kill);
  expect(await outputProblem({ type: 'number' }, 1)).toBeUndefined();
  expect(last).not.toBe(second);
});
