/** Tasks that a planner wrote: checked as if they stood in the file, and kept to what the workflow gave. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Json, Task } from '../src/contract/workflow.ts';
import { workflow } from '../src/definition/builder.ts';
import { checkExpansion } from '../src/definition/expansion/expansion.ts';
import { create } from '../src/schedule/fold/fold.ts';
import { planFormat, planSchema } from '../src/schedule/workflow/plan-format.ts';
import { renderWork } from '../src/schedule/workflow/prompt.ts';

describe('tasks that a task wrote', () => {
  const planner = workflow({
    name: 'x',
    agents: { dev: { runtime: 'cli', command: 'cat' } },
    tasks: { plan: { run: 'true', expand: true } },
  });
  const problem = (output: Json): string => {
    const checked = checkExpansion(output, planner);
    if ('problem' in checked) return checked.problem;
    throw new Error('nothing was wrong');
  };

  test('may be a map, a list, or either under "tasks"', () => {
    const a = { agent: 'dev', prompt: 'x' };
    const b = { run: 'echo ${{ tasks.a.output }}', needs: ['a'] };
    const expected = { tasks: { a: { ...a, needs: [], attempts: 1 }, b: { ...b, attempts: 1 } } };
    expect(checkExpansion({ a, b }, planner)).toEqual(expected);
    expect(checkExpansion({ tasks: { a, b }, why: 'because' }, planner)).toEqual(expected);
    expect(
      checkExpansion(
        [
          { name: 'a', ...a },
          { name: 'b', ...b },
        ],
        planner,
      ),
    ).toEqual(expected);
    expect(
      checkExpansion(
        {
          tasks: [
            { name: 'a', ...a },
            { name: 'b', ...b },
          ],
        },
        planner,
      ),
    ).toEqual(expected);
    expect(checkExpansion({ tasks: {} }, planner)).toEqual({ tasks: {} });
  });

  test('are checked as those of a file', () => {
    expect(problem('plan')).toBe(
      'the output must be tasks (a map, or a list in which each has a "name"), but is "plan"',
    );
    expect(problem([{ run: 'x' }])).toBe('item 1 of the output is not a task with a "name"');
    expect(
      problem([
        { name: 'a', run: 'x' },
        { name: 'a', run: 'y' },
      ]),
    ).toBe('the output has two tasks named "a"');
    expect(problem({ a: { rin: 'x' } })).toBe(
      'tasks.a.rin: unknown field "rin" in task "a"; did you mean "run"?',
    );
    expect(problem({ a: { run: 'x', needs: ['plan'] } })).toContain(
      'tasks.a.needs[0]: task "a" needs "plan", but there is no such task',
    );
    expect(problem({ a: { agent: 'devv', prompt: 'x' } })).toContain('did you mean "dev"?');
    expect(problem({ a: { run: 'x', needs: ['api:p'] } })).toContain('no task publishes "p"');
    expect(problem({ a: { uses: 'x.yaml' } })).toContain('which the workflow itself does not use');
    const many = Object.fromEntries(Array.from({ length: 1001 }, (_, n) => [`t${n}`, { run: 'x' }]));
    expect(problem(many)).toBe('the output has 1001 tasks; at most 1000 are allowed');
  });
});

test('tasks that a task wrote cannot give themselves hosts or files of the machine', () => {
  const planner = workflow({ name: 'x', tasks: { plan: { run: 'true', expand: true } } });
  const reaching: Json[] = [
    { run: 'x', scope: { network: ['example.com'] } },
    { run: 'x', scope: { read: ['/etc'] } },
    { run: 'x', scope: { grant: ['**'] } },
    { agent: { runtime: 'cli', command: 'x', scope: { network: ['example.com'] } }, prompt: 'x' },
    { agent: { runtime: 'acp', command: ['/home/you/.config/gh/hosts.yml'] }, prompt: 'x' },
    { run: 'x', workspace: { copy: ['.env'] } },
    { run: 'x', workspace: { setup: 'x', network: ['example.com'] } },
  ];
  for (const task of reaching) {
    expect(checkExpansion({ a: task }, planner)).toEqual({
      problem: expect.stringContaining('is for the workflow to give'),
    });
  }
  expect(checkExpansion({ a: { run: 'x', scope: { env: { A: '1' } } } }, planner)).toHaveProperty('tasks');
});

test('tasks that a task wrote see nothing that is hidden from it, or from the agent that they name', () => {
  const planner = workflow({
    name: 'x',
    agents: { dev: { runtime: 'cli', command: 'x', scope: { hide: ['.env'] } } },
    tasks: { plan: { run: 'true', expand: true } },
  });
  const written = { a: { run: 'x' }, b: { agent: 'dev', prompt: 'x', scope: { hide: [] } } };
  expect(
    checkExpansion(written, planner, { scope: { hide: ['secrets/**'] }, limits: {}, globsOfPeople: [] }),
  ).toMatchObject({
    tasks: { a: { scope: { hide: ['secrets/**'] } }, b: { scope: { hide: ['secrets/**', '.env'] } } },
  });
});

describe('tasks that a task wrote', () => {
  const whole = workflow({
    name: 'x',
    agents: {
      writer: {
        runtime: 'cli',
        command: 'x',
        scope: { write: ['docs/**'] },
        limits: { memory: '4GB', minutes: 5 },
      },
      free: { runtime: 'cli', command: 'x' },
    },
    tasks: { plan: { run: 'true', expand: true } },
  });
  const planner = {
    scope: { write: ['src/**', 'test/**'] },
    limits: { memory: '1GB', minutes: 10, processes: 50 },
    budget: { usd: 2, enforce: 'hard' as const },
    globsOfPeople: ['src/**', 'test/**'],
  };
  const written = (task: Json): Task => {
    const checked = checkExpansion({ a: task }, whole, planner);
    if ('problem' in checked) throw new Error(checked.problem);
    return checked.tasks.a!;
  };

  test('change no more than the agent that they name, or than whoever wrote them', () => {
    expect(written({ run: 'x' }).scope).toEqual({ write: ['src/**', 'test/**'] });
    expect(written({ run: 'x', scope: { write: ['src/a/*.ts'] } }).scope).toEqual({ write: ['src/a/*.ts'] });
    expect(written({ agent: { runtime: 'codex' }, prompt: 'x' }).scope).toEqual({
      write: ['src/**', 'test/**'],
    });
    expect(written({ agent: 'writer', prompt: 'x', scope: { write: ['docs/a.md'] } }).scope).toEqual({
      write: ['docs/a.md'],
    });
    expect(written({ agent: 'free', prompt: 'x' })).not.toHaveProperty('scope');
    const more: [Json, string][] = [
      [
        { run: 'x', scope: { write: ['**'] } },
        '"**" is more than the task that wrote it may change (src/**, test/**)',
      ],
      [{ run: 'x', scope: { shared: ['docs/a'] } }, '"docs/a" is more than the task that wrote it'],
      [
        { agent: { runtime: 'codex', scope: { write: ['docs/**'] } }, prompt: 'x' },
        '"docs/**" is more than the task',
      ],
      [
        { agent: 'writer', prompt: 'x', scope: { write: ['src/**'] } },
        '"src/**" is more than its agent "writer" may',
      ],
    ];
    for (const [task, message] of more) expect(() => written(task)).toThrow(message);
  });

  test('have limits and a budget no higher than whoever wrote them', () => {
    expect(
      written({ run: 'x', limits: { memory: '2GB', processes: 10, cpu: 2 }, timeout: '1h' }),
    ).toMatchObject({
      limits: { memory: '1GB', minutes: 10, processes: 10, cpu: 2 },
    });
    expect(written({ run: 'x', timeout: '1h' })).not.toHaveProperty('timeout');
    expect(written({ run: 'x', timeout: '1m' }).timeout).toBe('1m');
    expect(written({ agent: 'writer', prompt: 'x' }).limits).toEqual({
      memory: '1GB',
      minutes: 5,
      processes: 50,
    });
    const paid = written({
      agent: { runtime: 'codex', budget: { usd: 100, tokens: 5, enforce: 'ask' } },
      prompt: 'x',
    }).agent;
    expect(paid).toMatchObject({ budget: { usd: 2, tokens: 5, enforce: 'hard' } });
  });

  test('may have every field of a strict schema, with null for nothing', () => {
    const task = {
      name: 'a',
      description: null,
      needs: null,
      publishes: null,
      agent: null,
      prompt: null,
      run: 'x',
      check: null,
      scope: null,
    };
    expect(planSchema(true)).toHaveProperty('properties.tasks.items.required', Object.keys(task));
    expect(checkExpansion({ tasks: [task] }, whole)).toMatchObject({ tasks: { a: { run: 'x', needs: [] } } });
  });

  test('are what the page allows also for the schema that an agent is given, but for a strict one', () => {
    const plans = [
      { tasks: { a: { run: 'x', check: null, retry: { attempts: 2 } } } },
      { tasks: [{ name: 'a', run: 'x', scope: { write: ['a/**'] } }] },
    ];
    for (const plan of plans) {
      expect(z.fromJSONSchema(planSchema(false)).safeParse(plan).error).toBeUndefined();
      expect(z.fromJSONSchema(planSchema(true)).safeParse(plan).success).toBe(false);
      expect(checkExpansion(plan, whole)).toMatchObject({ tasks: { a: { run: 'x' } } });
    }
    expect(z.fromJSONSchema(planSchema(false)).safeParse({ tasks: 'Done.' }).success).toBe(false);
  });

  test('are described to whoever writes them, with the agents that there are', () => {
    const format = planFormat(whole, 1000);
    expect(format).toContain('at most 1000 tasks');
    expect(format).toContain('- writer (may change docs/**)\n- free');
    const example = /^\{ "tasks": .*$/m.exec(format)![0].replace('NAME', 'free');
    expect(checkExpansion(JSON.parse(example) as Json, whole)).toHaveProperty('tasks.parser.agent', 'free');
    const asking = workflow({
      name: 'x',
      tasks: { plan: { agent: { runtime: 'codex' }, prompt: 'Plan.', expand: true } },
    });
    const state = create(
      { type: 'run.created', id: 'x-1', workflow: asking, source: 'x', inputs: {}, base: 'b', dirty: false },
      0,
    );
    expect(renderWork(state, state.nodes.get('plan')!).prompt).toMatch(/^Plan\.\n\nYour output is a plan: /);
  });

  test('write tasks in turn, but not for ever', () => {
    const tasks = { a: { run: 'x', expand: true } };
    expect(checkExpansion(tasks, whole, planner, 'plan/a/a/a/a')).toHaveProperty('tasks');
    expect(checkExpansion(tasks, whole, planner, 'plan/a/a/a/a/a')).toEqual({
      problem: 'plan/a/a/a/a/a is 6 levels deep; tasks that write tasks may be 5 deep',
    });
  });
});
