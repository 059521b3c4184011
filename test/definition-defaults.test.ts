/** What a workflow file writes once and means for many: `defaults`, anchors and merge keys. */
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Workflow } from '../src/contract/workflow.ts';
import { workflow } from '../src/definition/builder.ts';
import { parseWorkflow } from '../src/definition/load.ts';

const parse = (text: string): Workflow => parseWorkflow(`name: w\n${text}`, 'w.yaml').workflow;
const problem = (text: string): string => {
  try {
    parse(text);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('nothing is wrong with it');
};

describe('defaults', () => {
  test('are for tasks that do not give the field, as a whole, and for which it means something', () => {
    const { tasks, ...rest } = parse(`
defaults:
  task: { timeout: 10m, attempts: 3, env: { A: "1" }, agent: dev }
agents: { dev: { runtime: codex } }
tasks:
  command: { run: x }
  checked: { run: x, check: y, timeout: 1m, env: { B: "2" } }
  asked: { prompt: do it }
  question: { approve: Really? }
`);
    expect(tasks).toMatchObject({
      command: { timeout: '10m', attempts: 1, env: { A: '1' } },
      checked: { timeout: '1m', attempts: 3, env: { B: '2' } },
      asked: { agent: 'dev', timeout: '10m' },
    });
    expect(tasks['command']).not.toHaveProperty('agent');
    expect(tasks['question']).not.toHaveProperty('timeout');
    expect(rest).not.toHaveProperty('defaults');
  });

  test('are for agents wherever they are written; one with a runtime of its own takes no model', () => {
    const repository = mkdtempSync(path.join(tmpdir(), 'bosun-defaults-'));
    try {
      mkdirSync(path.join(repository, '.bosun/agents'), { recursive: true });
      writeFileSync(path.join(repository, '.bosun/agents/file.md'), '---\nturns: 7\n---\nA file.\n');
      const text = `name: w
defaults: { agent: { runtime: codex, model: gpt-5.1, turns: 5, limits: { memory: 1GB } } }
agents: { named: { prompt: p }, other: { runtime: opencode, turns: 2 } }
tasks:
  a: { agent: named, prompt: x }
  b: { agent: other, prompt: x }
  c: { agent: { limits: { cpu: 1 } }, prompt: x }
  d: { agent: file, prompt: x }
`;
      const { agents, tasks } = parseWorkflow(text, 'w.yaml', { repository }).workflow;
      const limits = { memory: '1GB' };
      expect(agents).toEqual({
        named: { runtime: 'codex', model: 'gpt-5.1', turns: 5, limits, prompt: 'p' },
        other: { runtime: 'opencode', turns: 2, limits },
        file: { runtime: 'claude-code', turns: 7, limits, prompt: 'A file.' },
      });
      expect(tasks['c']!.agent).toEqual({ runtime: 'codex', model: 'gpt-5.1', turns: 5, limits: { cpu: 1 } });
    } finally {
      rmSync(repository, { recursive: true });
    }
  });

  test('that are wrong are told where they stand, once', () => {
    const tasks = 'tasks: { a: { run: x }, b: { run: x } }\n';
    expect(problem(`defaults: { task: { timeot: 1m } }\n${tasks}`)).toContain(
      'w.yaml:2:21: unknown field "timeot" in "defaults.task"; did you mean "timeout"?',
    );
    expect(problem(`defaults: { task: { timeout: soon } }\n${tasks}`)).toMatch(
      /^w\.yaml:2:30: "defaults\.task\.timeout" must be a duration/,
    );
    const told = problem(`defaults: { task: { workspace: { setup: "x \${{ inputs.a }}" } } }\n${tasks}`);
    expect(told.match(/w\.yaml:2:\d+: expressions are not filled in here/g)).toHaveLength(1);
    expect(told).toContain('they work in prompt, run, check, ');
    expect(problem(`defaults: { task: { needs: [a] } }\n${tasks}`)).toContain('unknown field "needs"');
    expect(problem(`defaults: { agent: { turns: 0 } }\ntasks: { a: { agent: {}, prompt: x } }\n`)).toContain(
      'w.yaml:2:29: "defaults.agent.turns" must be more than 0',
    );
    expect(problem(`budget: { usd: 1 }\ndefaults: { task: { budget: { usd: 2 } } }\n${tasks}`)).toMatch(
      /w\.yaml:3:36: the budget of task "a" is impossible/,
    );
  });

  test('work in TypeScript', () => {
    const built = workflow({
      name: 'w',
      defaults: { task: { timeout: '10m' }, agent: { runtime: 'cli', command: 'x' } },
      tasks: { a: { agent: {}, prompt: 'p' } },
    });
    expect(built.tasks['a']).toMatchObject({ timeout: '10m', agent: { runtime: 'cli', command: 'x' } });
  });
});

describe('merge keys', () => {
  test('take over fields: own ones win, then the first map of a list', () => {
    const { tasks } = parse(`tasks:
  a: &a { run: a, timeout: 1m, env: &env { X: "1" } }
  b: { timeout: 2m, <<: *a }
  c: { <<: [{ timeout: 3m }, *a], run: c, env: { <<: *env, Y: "2" } }
`);
    expect(tasks).toMatchObject({
      b: { run: 'a', timeout: '2m', env: { X: '1' } },
      c: { run: 'c', timeout: '3m', env: { X: '1', Y: '2' } },
    });
  });

  test('are followed to the place of what is wrong', () => {
    const text = 'tasks:\n  a: { run: x }\n  b: &b { run: y, needs: [a, z] }\n  c: { <<: [*b], run: z }\n';
    expect(problem(text)).toMatch(/w\.yaml:4:30: task "b" needs "z"[^]*w\.yaml:4:30: task "c" needs "z"/);
  });

  test('in quotes are a name like any other', () => {
    expect(problem('tasks: { a: { run: x, "<<": { timeout: 1m } } }\n')).toContain('unknown field "<<"');
  });

  test('that grow without end are refused, and those that double are searched once', () => {
    const levels = (count: number): string =>
      Array.from(
        { length: count },
        (_, n) => `    l${n + 1}: &l${n + 1} { <<: [*l${n}, *l${n}], n${n}: "x" }\n`,
      ).join('');
    const bomb = (count: number): string =>
      `tasks:\n  a:\n    run: x\n    l0: &l0 { A: "1" }\n${levels(count)}    env: { <<: *l${count}, Z: 5 }\n`;
    expect(problem(bomb(40))).toContain('with all its aliases, this makes more than 1000000 values');
    const beganMs = performance.now();
    expect(problem(bomb(14))).toContain('"env.Z" of task "a" must be text');
    expect(performance.now() - beganMs).toBeLessThan(3000);
  });
});
