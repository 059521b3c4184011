/** Files with more problems than anybody reads: they are counted, some are shown, and it takes no longer than reading. */
import { describe, expect, it } from 'vitest';
import { parseWorkflow } from '../src/definition/load.ts';

const times = (count: number, line: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => `${line(n)}\n`).join('');
const CPU_MS_MAX = 12_000;

describe('many problems', () => {
  it.each<[string, string, number]>([
    [
      'unknown fields',
      `name: a\ntasks: { a: { run: 'true' } }\n${times(60_000, (n) => `key${n}: 1`)}`,
      60_000,
    ],
    [
      'unknown needs',
      `name: a\ntasks:\n${times(8_000, (n) => `  t${n}: { run: 'true', needs: [tt${n}x] }`)}`,
      8_000,
    ],
    [
      'unknown interfaces',
      `name: a\ntasks:\n${times(8_000, (n) => `  t${n}: { run: 'true', publishes: [p${n}], needs: ['api:pp${n}x'] }`)}`,
      8_000,
    ],
    [
      'unknown tasks in expressions',
      `name: a\ntasks:\n${times(8_000, (n) => `  t${n}: { run: 'echo \${{ tasks.tt${n}x.output }}' }`)}`,
      8_000,
    ],
    [
      'unknown agents',
      `name: a\nagents:\n${times(8_000, (n) => `  a${n}: { runtime: codex }`)}tasks:\n${times(8_000, (n) => `  t${n}: { agent: aa${n}x, prompt: a }`)}`,
      8_000,
    ],
  ])('%s are told in seconds: the first, and how many more', (_, text, count) => {
    const { user } = process.cpuUsage();
    let message = '';
    try {
      parseWorkflow(text, 'big.yaml', {});
    } catch (error) {
      message = (error as Error).message;
    }
    expect((process.cpuUsage().user - user) / 1000).toBeLessThan(CPU_MS_MAX);
    expect(message).toContain(`… and ${count - 20} more problems`);
  });
});
