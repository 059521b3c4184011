import { describe, expect, test } from 'vitest';
import { parseWorkflow } from '../src/definition/load.ts';
import { HEAD, invalid, invalidTasks, messages } from './fixtures/definition.ts';

describe('expressions that cannot work', () => {
  test.each([
    [
      'c: { run: "echo ${{ tasks.b.output }}" }',
      '9:23: "run" of task "c" speaks of the task "b", which need not have ended by then; add b to "needs"',
    ],
    [
      'c: { run: "echo ${{ tasks.my-task.output }}", needs: [my-task] }',
      `9:23: "-" means minus in an expression; write tasks['my-task'] and not tasks.my-task`,
    ],
    [
      'c: { run: "echo ${{ tasks.zz.output }}" }',
      '9:23: "run" of task "c" speaks of the task "zz", which does not exist',
    ],
    [
      'c: { run: "echo ${{ tasks.c.output }}" }',
      '9:23: "run" of task "c" speaks of the task itself, which has no output before it ends',
    ],
    [
      'c: { run: "echo ${{ inputs.whoo }}" }',
      '9:23: "run" of task "c" speaks of the input "whoo", which is not declared; did you mean "who"?',
    ],
    [
      'c: { run: "echo ${{ each }}" }',
      '9:23: "run" of task "c" speaks of "each" or "index", which only a task with for-each has',
    ],
    [
      'c: { run: x, for-each: "${{ each }}" }',
      '9:31: "for-each" of task "c" speaks of "each" or "index", which only a task with for-each has',
    ],
    [
      'c: { run: "echo ${{ inputs.who" }',
      '9:19: "run" of task "c": "${{" is never closed; add "}}" after the expression',
    ],
    [
      'c: { run: x, if: "${{ inputs.who == }}" }',
      '9:25: "if" of task "c": expression "inputs.who ==": the expression ends too early',
    ],
    ['c: { run: x, if: "1 + 2" }', '9:20: "if" of task "c" must give true or false, but "1 + 2" gives int'],
    [
      'c: { run: x, if: "${{ true }} && ${{ true }}" }',
      '9:21: "if" of task "c": expression "${{ true }} && ${{ true }}" mixes text and expressions; write it as one expression: ${{ … }} around all of it',
    ],
    [
      `c: { run: x, for-each: "'abc'" }`,
      `9:26: "for-each" of task "c" must give a list, but "'abc'" gives string`,
    ],
    [
      'c: { run: x, workspace: { setup: "${{ inputs.who }}" } }',
      '9:37: expressions are not filled in here; they work in prompt, run, check, judge, env, with, artifacts, approve, finalize, if, for-each, and in write, shared and hide of the scope of a task with for-each',
    ],
    [
      'c: { run: x, check: "${{ each }}" }',
      '9:28: "check" of task "c" speaks of "each" or "index", which only a task with for-each has',
    ],
    [
      'c: { run: x, env: { A: "${{ foo }}" } }',
      '9:31: "env.A" of task "c": expression "foo": unknown name "foo"; there are tasks, apis, inputs, each, index, run',
    ],
  ])('%s', (task, message) => {
    const text = `  my-task: { run: x }\n  b: { run: x }\n  ${task}\n`;
    expect(messages(invalidTasks(text))).toEqual([message]);
  });

  test('the check of a merge is long after the run', () => {
    const text = 'name: w\nmerge: { check: "test ${{ inputs.x }}" }\ntasks: { a: { run: x } }\n';
    expect(messages(invalid(text))).toEqual([
      expect.stringMatching(/^2:\d+: expressions are not filled in here/),
    ]);
  });

  test('what a need needs has ended too', () => {
    const text =
      '  a: { run: x }\n  b: { run: x, needs: [a] }\n  c: { run: "${{ tasks.a.output }}", needs: [b] }\n';
    expect(() => parseWorkflow(HEAD + text, 'bosun.yaml')).not.toThrow();
  });

  test('an interface has one publisher, which ends before who needs it has to', () => {
    const text =
      '  a: { run: x, publishes: [p] }\n  b: { run: x, publishes: [p, q], continuous: { every: 1m } }\n  c: { run: x, needs: [api:q] }\n';
    expect(messages(invalidTasks(text))).toEqual([
      '8:28: task "b" publishes "p", but task "a" does too; an interface has one publisher: rename or remove one',
      '9:24: task "c" needs "api:q", but "b", which publishes it, is continuous and ends after all other tasks; let another task publish it, or remove the need',
    ]);
  });

  test('an interface is there only for a task that needs it', () => {
    const text =
      '  a: { run: x, publishes: [p, my-p] }\n  b: { run: "${{ apis.p.value }}" }\n  c: { run: "${{ apis.my-p.value }}", needs: [api:my-p] }\n';
    expect(messages(invalidTasks(text))).toEqual([
      '8:18: "run" of task "b" speaks of the interface "p", which need not be published by then; add api:p to "needs"',
      '9:18: "-" means minus in an expression; write apis[\'my-p\'] and not apis.my-p',
    ]);
  });

  test('what has only published has not ended', () => {
    const text = '  a: { run: x, publishes: [p] }\n  b: { run: "${{ tasks.a.output }}", needs: [api:p] }\n';
    expect(messages(invalidTasks(text))).toEqual([
      '8:18: "run" of task "b" speaks of the task "a", which need not have ended by then; add a to "needs"',
    ]);
  });
});

test('10,000 tasks are read and checked in about a second of processor time', () => {
  let text = 'name: big\ninputs: { x: {} }\ntasks:\n';
  for (let n = 0; n < 10_000; n++) {
    const reference = n > 5 ? `\${{ tasks.t${n - 5}.output }}` : '';
    text += `  t${n}:\n    needs: [${n > 0 ? `t${n - 1}` : ''}]\n    run: echo \${{ inputs.x }} ${reference}\n`;
  }
  const before = process.cpuUsage();
  const { workflow } = parseWorkflow(text, 'bosun.yaml');
  const { user } = process.cpuUsage(before);
  expect(Object.keys(workflow.tasks)).toHaveLength(10_000);
  expect(user / 1000).toBeLessThan(5000); // generous: other tests may share the processor's caches
  const circle = text.replace('    needs: []', '    needs: [t9999]');
  expect(invalid(circle)).toContain('… (9980 more) → t0; remove one of these needs');
});
