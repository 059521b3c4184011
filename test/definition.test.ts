import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SCHEMA_PATH, workflowSchema } from '../scripts/schema.ts';
import { suggest } from '../src/base/suggest.ts';
import { BosunError, type ErrorCode } from '../src/contract/errors.ts';
import type { Json, Workflow, WorkflowSource } from '../src/contract/workflow.ts';
import { workflow } from '../src/definition/builder.ts';
import { checkExpansion } from '../src/definition/expansion.ts';
import { resolveInputs } from '../src/definition/inputs.ts';
import { loadWorkflow, parseWorkflow } from '../src/definition/load.ts';
import { refuseUnsupported } from '../src/definition/supported.ts';

const FIXTURES = join(import.meta.dirname, 'fixtures/workflows');
const HEAD = `name: x
agents:
  dev: { runtime: cli, command: cat }
inputs:
  who: {}
tasks:
`;

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'bosun-definition-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

function write(files: Record<string, string | Buffer>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), content);
  }
}

function caught(action: () => unknown, code: ErrorCode): BosunError {
  try {
    action();
  } catch (error) {
    expect(error).toBeInstanceOf(BosunError);
    expect(error).toMatchObject({ code });
    return error as BosunError;
  }
  throw new Error('nothing was wrong');
}

const invalid = (text: string): string =>
  caught(() => parseWorkflow(text, 'bosun.yaml'), 'invalid-workflow').message;
const invalidTasks = (tasks: string): string => invalid(HEAD + tasks);
/** The messages alone, without excerpts. */
const messages = (text: string): string[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('bosun.yaml:'))
    .map((line) => line.replace(/^bosun\.yaml:/, ''));

async function invalidFile(path: string, repository?: string): Promise<string> {
  const error = await loadWorkflow(path, repository === undefined ? {} : { repository }).catch(
    (e: unknown) => e,
  );
  expect(error).toBeInstanceOf(BosunError);
  expect(error).toMatchObject({ code: 'invalid-workflow' });
  return (error as Error).message;
}

describe('a workflow', () => {
  test('with everything the file can say is read, and its defaults are filled in', async () => {
    const { workflow, warnings } = await loadWorkflow(join(FIXTURES, 'calculator.yaml'));
    expect(warnings).toEqual([]);
    expect(Object.keys(workflow.tasks)).toEqual(['design', 'implement', 'review', 'fix', 'lint', 'ship']);
    expect(workflow).toMatchObject({ 'on-conflict': 'fail', 'on-failure': 'stop', isolation: 'best-effort' });
    expect(workflow.tasks['lint']).toEqual({ needs: [], attempts: 1, run: 'npm run lint' });
    expect(workflow.agents['reviewer']).toEqual({ runtime: 'claude-code', scope: { write: [] } });
  });

  test('is the same in YAML, in JSON and from the builder', async () => {
    const yaml = (await loadWorkflow(join(FIXTURES, 'calculator.yaml'))).workflow;
    expect((await loadWorkflow(join(FIXTURES, 'calculator.json'))).workflow).toEqual(yaml);
    expect((await loadWorkflow(join(FIXTURES, 'calculator.ts'))).workflow).toEqual(yaml);
    expect(JSON.parse(JSON.stringify(yaml))).toEqual(yaml);
  });

  test('says what is odd but not wrong', () => {
    const text =
      'name: x\nagents: { dev: { runtime: cli, command: cat } }\ntasks:\n  a: { run: "true", attempts: 2, needs: [b, b] }\n  b: { run: "true" }\n';
    const { workflow, warnings } = parseWorkflow(text, 'bosun.yaml');
    expect(warnings).toEqual([
      'bosun.yaml: agent "dev" is named by no task',
      'bosun.yaml: task "a" has "attempts" but no "check", so that one attempt is all it gets; see "retry"',
    ]);
    expect(workflow.tasks['a']!.needs).toEqual(['b']);
  });

  test('warns of an expression that the shell would leave alone', () => {
    const warnings = (run: string): string[] =>
      parseWorkflow(JSON.stringify({ name: 'x', inputs: { who: {} }, tasks: { a: { run } } }), 'bosun.yaml')
        .warnings;
    expect(warnings("echo '${{ inputs.who }}'")).toEqual([
      'bosun.yaml: task "a" has "${{ inputs.who }}" in single quotes, where the shell does not fill it in; use double quotes',
    ]);
    expect(warnings(`echo "it's \${{ inputs.who }}" 'b' \${{ inputs.who }}`)).toEqual([]);
  });

  test('has a published schema that is current', () => {
    expect(readFileSync(SCHEMA_PATH, 'utf8')).toBe(workflowSchema());
  });
});

describe('a message', () => {
  test('names the place, shows the line and says what to do', () => {
    const error = caught(
      () =>
        parseWorkflow(`${HEAD}  design:\n    agent: dev\n    promt: Specify a calculator\n`, 'bosun.yaml'),
      'invalid-workflow',
    );
    expect(error.message).toBe(
      [
        'bosun.yaml:9:5: unknown field "promt" in task "design"; did you mean "prompt"?',
        '    9 |     promt: Specify a calculator',
        '      |     ^^^^^',
      ].join('\n'),
    );
    expect(error.data).toEqual({
      problems: [
        {
          file: 'bosun.yaml',
          line: 9,
          column: 5,
          path: 'tasks.design.promt',
          message: 'unknown field "promt" in task "design"; did you mean "prompt"?',
        },
      ],
    });
  });

  test('has a position in JSON too', () => {
    expect(invalid('{\n  "name": "x",\n  "tasks": { "a": { "run": 3 } }\n}')).toBe(
      [
        'bosun.yaml:3:28: "run" of task "a" must be text, but is the number 3; put it in quotes: "3"',
        '    3 |   "tasks": { "a": { "run": 3 } }',
        '      |                            ^',
      ].join('\n'),
    );
  });

  test('of the builder names the path instead', () => {
    const source = { name: 'x', tasks: { design: { run: 'true', needs: ['desing'] }, b: { prmpt: 1 } } };
    expect(caught(() => workflow(source as WorkflowSource), 'invalid-workflow').message.split('\n')).toEqual([
      'tasks.b.prmpt: unknown field "prmpt" in task "b"; did you mean "prompt"?',
      'tasks.design.needs[0]: task "design" needs "desing", but there is no such task; did you mean "design"?',
    ]);
  });

  test('tells everything at once, in the order of the file, and at most 20 things', () => {
    expect(
      messages(invalidTasks('  a: { run: x, needs: [bb1] }\n  b: { run: 4 }\n  c: { run: x, chek: y }\n')),
    ).toEqual([
      '7:24: task "a" needs "bb1", but there is no such task; add it or remove the need',
      '8:13: "run" of task "b" must be text, but is the number 4; put it in quotes: "4"',
      '9:16: unknown field "chek" in task "c"; did you mean "check"?',
    ]);
    const many = Array.from({ length: 30 }, (_, n) => `  t${n}: { run: ${n} }`).join('\n');
    expect(messages(invalidTasks(many))).toHaveLength(20);
    expect(invalidTasks(many)).toMatch(/\n… and 10 more problems$/);
  });

  test('cuts a long line around the place', () => {
    const text = `  a: { description: "${'x'.repeat(500)}", promt: y, run: x }\n`;
    const [, line, carets] = invalidTasks(text).split('\n');
    expect(line!.length).toBeLessThan(120);
    expect(line!.slice(carets!.indexOf('^'))).toMatch(/^promt: y/);
  });
});

describe('text that is no YAML', () => {
  test.each([
    ['', '1:1: the file is empty; a workflow has at least "name" and "tasks"'],
    ['# nothing\n', '1:1: the file is empty; a workflow has at least "name" and "tasks"'],
    ['- a\n', '1:1: a workflow is a map with "name" and "tasks", but this is a list'],
    ['hello', '1:1: a workflow is a map with "name" and "tasks", but this is "hello"'],
    ['name: x\ntasks:\n\ta: 1\n', '3:1: a tab cannot indent in YAML; use spaces'],
    ['name: x\nname: y\ntasks: {}\n', '2:1: "name" is here a second time, first at 1:1; remove one of them'],
    [
      'name: a: b\n',
      '1:7: there is a second ":" in this line; put text that holds ": " in quotes, or start a new line',
    ],
    ['tasks: [1, 2\n', '1:13: "]" is missing: the list or map is never closed'],
    ['name: "x\n', '1:9: the text in quotes is never closed; add the closing quote'],
    [
      "name: 'it's'\n",
      '1:11: this is not expected here; is the indentation off, or a quote or a comma missing?',
    ],
    ['name: @x\n', '1:7: plain value cannot start with reserved character @; put the text in quotes'],
    [
      'name: x\n---\nname: y\n',
      '2:1: a workflow file holds one document; remove what follows the second "---"',
    ],
    ['name: *x\n', '1:7: there is no anchor "&x" above; define it or write the value here'],
    ['name: &x [*x]\n', '1:11: the alias "*x" refers to a value that it is part of; remove it'],
    ['name: !foo x\n', '1:7: unresolved tag: !foo; tags have no meaning here, remove it'],
    ['? [a]\n: b\n', '1:3: the name of a field must be text'],
    ['a: &a { b: 1 }\nc: { <<: *a }\n', '2:6: merge keys ("<<") are not supported; write the fields out'],
  ])('%j', (text, message) => expect(messages(invalid(text))[0]).toBe(message));

  test('duplicate keys are told with both places', () => {
    expect(messages(invalidTasks('  a: { run: x }\n  b: { run: x }\n  a: { run: y }\n'))).toEqual([
      '9:3: "a" is here a second time, first at 7:3; remove one of them',
    ]);
  });

  test('a bomb of aliases is defused', () => {
    const lines = ['a: &a [x, x, x, x, x, x, x, x, x, x]'];
    for (const [before, name] of ['ab', 'bc', 'cd', 'de', 'ef', 'fg', 'gh']) {
      lines.push(`${name}: &${name} [${Array.from({ length: 10 }, () => `*${before}`).join(', ')}]`);
    }
    expect(messages(invalid(lines.join('\n')))).toEqual([
      '6:36: with all its aliases, this makes more than 1000000 values; write fewer',
    ]);
  });

  test.each(['['.repeat(50_000), `name: ${'{a: '.repeat(300)}1${'}'.repeat(300)}\n`])(
    'depth is bounded',
    (text) => {
      expect(invalid(text)).toMatch(/nested (too deeply|more than 100 levels deep); make it flatter/);
    },
  );

  test('a harmless alias is a copy', () => {
    const text = 'name: x\ntasks:\n  a: &a { run: "true" }\n  b: *a\n';
    expect(parseWorkflow(text, 'bosun.yaml').workflow.tasks['b']).toMatchObject({ run: 'true' });
  });

  test('a key named __proto__ is refused', () => {
    expect(messages(invalidTasks('  __proto__: { run: x }\n'))).toEqual([
      '7:3: a field cannot be named "__proto__"; choose another name',
    ]);
  });

  test('control characters do not reach the terminal', () => {
    expect(invalidTasks('  a: { run: x, on-failure: "\\e[31m" }\n  \u001b[31m: 1\n')).not.toContain('\u001b');
    expect(invalidTasks('  a: { run: x, on-failure: "\\e[31m" }\n')).not.toContain('\u001b');
  });
});

describe('fields with wrong values', () => {
  test.each([
    [
      'a: { agent: dev, prompt: 42 }',
      '7:28: "prompt" of task "a" must be text, but is the number 42; put it in quotes: "42"',
    ],
    [
      'a: { run: x, if: true }',
      '7:20: "if" of task "a" must be text, but is the boolean true; put it in quotes: "true"',
    ],
    ['a:', '7:3: task "a" is empty; give it "run: <command>", or "agent" and "prompt"'],
    ['a: { run: }', '7:8: "run" of task "a" is empty; write text after the ":", or remove it'],
    ['a: echo', '7:6: task "a" must be a map of fields (name: value), but is "echo"'],
    [
      'a: { run: x, needs: b }',
      '7:23: "needs" of task "a" must be a list, but is "b"; put it in brackets: [b]',
    ],
    [
      'a: { run: x, timeout: 3 }',
      '7:25: "timeout" of task "a" must be a duration such as 500ms, 30s, 10m or 2h, but is the number 3',
    ],
    [
      'a: { run: x, timeout: soon }',
      '7:25: "timeout" of task "a" must be a duration such as 500ms, 30s, 10m or 2h, but is "soon"',
    ],
    ['a: { run: x, attempts: 0 }', '7:26: "attempts" of task "a" must be at least 1, but is the number 0'],
    [
      'a: { run: x, attempts: 1.5 }',
      '7:26: "attempts" of task "a" must be a whole number, but is the number 1.5',
    ],
    [
      'a: { run: x, workspace: nil }',
      '7:27: "workspace" of task "a" must be none or a map with copy and setup, but is "nil"',
    ],
    [
      'a: { run: x, workspace: { cpy: [a] } }',
      '7:29: unknown field "cpy" in "workspace" of task "a"; did you mean "copy"?',
    ],
    [
      'a: { run: x, for-each: 3 }',
      '7:26: "for-each" of task "a" must be a list or an expression that gives one, but is the number 3',
    ],
    ['a: { approve: {} }', '7:17: "approve" of task "a" has no "question"; add it'],
    [
      'a: { agent: { runtime: clii }, prompt: x }',
      '7:26: "agent.runtime" of task "a" must be one of claude-code, opencode, codex, acp, cli, but is "clii"; did you mean "cli"?',
    ],
    [
      'a: { agent: 3, prompt: x }',
      '7:15: "agent" of task "a" must be the name of an agent or a map with its fields, but is the number 3',
    ],
    [
      'a: { run: x, on-conflict: mine }',
      '7:29: "on-conflict" of task "a" must be fail, ours, theirs or agent:<name>, but is "mine"',
    ],
    [
      'a: { run: x, on-failure: stopp }',
      '7:28: "on-failure" of task "a" must be one of stop, continue, but is "stopp"; did you mean "stop"?',
    ],
    [
      '1a: { run: x }',
      '7:3: the name of task "1a" must start with a letter and hold only letters, digits, "-" and "_"',
    ],
    [
      'a: { run: x, env: { CI: 1 } }',
      '7:27: "env.CI" of task "a" must be text, but is the number 1; put it in quotes: "1"',
    ],
    [
      'a: { run: x, output: 3 }',
      '7:24: "output" of task "a" must be a map (name: value), but is the number 3',
    ],
  ])('%s', (task, message) => expect(messages(invalidTasks(`  ${task}\n`))[0]).toContain(message));

  test('a missing name and missing tasks are told', () => {
    expect(messages(invalid('description: x\n'))).toEqual([
      '1:1: the workflow has no "name"; add one, such as "name: calculator"',
      '1:1: the workflow has no "tasks"; add it',
    ]);
    expect(messages(invalid('name: x\ntasks: {}\n'))).toEqual([
      '2:1: the workflow has no tasks; add at least one',
    ]);
  });
});

describe('tasks that make no sense', () => {
  test.each([
    [
      'a: { description: x }',
      '7:3: task "a" has nothing to do; give it one of run, agent (with prompt), uses, approve or handoff',
    ],
    ['a: { prompt: x }', '7:3: task "a" has a prompt but no agent; add "agent: <name>"'],
    ['a: { agent: dev }', '7:8: task "a" has an agent but no prompt; add "prompt: <what to do>"'],
    [
      'a: { run: x, agent: dev }',
      '7:16: task "a" has both "run" and "agent"; a task does one thing: make it two tasks, or remove one',
    ],
    [
      'a: { run: x, prompt: y }',
      '7:16: "prompt" of task "a" works only with agent or handoff, but the task has "run"; remove it',
    ],
    [
      'a: { run: x, rounds: 3 }',
      '7:16: "rounds" of task "a" works only with handoff, but the task has "run"; remove it',
    ],
    [
      'a: { run: x, with: { b: 1 } }',
      '7:16: "with" of task "a" works only with uses, but the task has "run"; remove it',
    ],
    [
      'a: { approve: ok, expand: true }',
      '7:21: "expand" of task "a" works only with run, agent or handoff, but the task has "approve"; remove it',
    ],
    [
      'a: { agent: dev, prompt: x, finalize: y }',
      '7:31: "finalize" of task "a" works only with "continuous"; add "continuous: { every: 10m }" or remove it',
    ],
    [
      'a: { agent: dev, prompt: x, continuous: {} }',
      '7:31: "continuous" of task "a" says neither "every" nor "on"; add one, such as "every: 10m"',
    ],
    [
      'a: { run: x, for-each: [] }',
      '7:26: "for-each" of task "a" is an empty list; add items or remove the task',
    ],
    ['a: { run: x, needs: [a] }', '7:24: task "a" needs itself; remove the need'],
    [
      'design: { run: x }\n  b: { run: x, needs: [desing] }',
      '8:24: task "b" needs "desing", but there is no such task; did you mean "design"?',
    ],
    [
      'a: { run: x, needs: [api:spec] }',
      '7:24: task "a" needs "api:spec", a need that can never be met: no task publishes "spec"; add "publishes: [spec]" to one',
    ],
    [
      'a: { run: x, needs: [api:spec], publishes: [spec] }',
      '7:24: task "a" needs "api:spec", which it publishes itself; remove the need',
    ],
    [
      'a: { agent: devv, prompt: x }',
      '7:15: task "a" names the agent "devv", which does not exist; did you mean "dev"?',
    ],
    [
      'a: { handoff: [dev, critic] }',
      '7:23: task "a" names the agent "critic", which does not exist; add it under "agents" or as .bosun/agents/critic.md',
    ],
    [
      'a: { run: x, on-conflict: agent:critic }',
      '7:29: task "a" names the agent "critic", which does not exist; add it under "agents" or as .bosun/agents/critic.md',
    ],
    [
      'a: { agent: { runtime: cli }, prompt: x }',
      '7:8: the agent of task "a" has the runtime "cli" but no command; add "command: <what to start>"',
    ],
    [
      'a: { agent: { command: x }, prompt: x }',
      '7:17: the agent of task "a" has a command, which only the runtimes cli and acp take; remove it, or add "runtime: cli"',
    ],
    [
      'a: { agent: { fallback: [claude-code] }, prompt: x }',
      '7:28: the agent of task "a" falls back from "claude-code" to itself; remove it',
    ],
    [
      'a: { agent: { fallback: [cli], command: x }, prompt: x }',
      '7:28: the agent of task "a" cannot fall back from "claude-code" to "cli": cli is a family of its own; the others are claude-code, opencode, codex and acp',
    ],
    ['a: { run: x, output: { type: nothing } }', '7:16: "output" of task "a" is no usable JSON Schema: '],
  ])('%s', (task, message) => expect(messages(invalidTasks(`  ${task}\n`))[0]).toContain(message));

  test('a circle is named as a whole', () => {
    const text =
      '  a: { run: x, needs: [b] }\n  b: { run: x, needs: [c] }\n  c: { run: x, needs: [a] }\n  d: { run: x, needs: [a] }\n';
    expect(messages(invalidTasks(text))).toEqual([
      '7:24: tasks need each other in a circle: a → b → c → a; remove one of these needs',
    ]);
  });

  test('a circle through a publication is a circle too', () => {
    const text = '  a: { run: x, needs: [api:spec] }\n  b: { run: x, needs: [a], publishes: [spec] }\n';
    expect(messages(invalidTasks(text))).toEqual([
      '7:24: tasks need each other in a circle: a → b → a; remove one of these needs',
    ]);
  });

  test('a budget larger than the whole is impossible', () => {
    const text =
      'name: x\nbudget: { usd: 1 }\nagents:\n  dev: { budget: { usd: 2 } }\ntasks:\n  a: { agent: dev, prompt: x, budget: { usd: 3 } }\n';
    expect(messages(invalid(text))).toEqual([
      '4:25: the budget of agent "dev" is impossible: 2 usd, but the whole run has 1; lower it or raise the run\'s',
      '6:46: the budget of task "a" is impossible: 3 usd, but the whole run has 1; lower it or raise the run\'s',
    ]);
  });

  test('a list of more than 10,000 items is refused', () => {
    const tasks = { a: { run: 'true', 'for-each': Array.from({ length: 10_001 }, () => 1) } };
    expect(caught(() => workflow({ name: 'x', tasks }), 'invalid-workflow').message).toBe(
      'tasks.a.for-each: "for-each" of task "a" has 10001 items; at most 10000 are allowed, split it',
    );
  });

  test('more than 20,000 tasks are refused', () => {
    const tasks = Object.fromEntries(Array.from({ length: 20_001 }, (_, n) => [`t${n}`, { run: 'true' }]));
    expect(caught(() => workflow({ name: 'x', tasks }), 'invalid-workflow').message).toBe(
      'tasks: the workflow has 20001 tasks; at most 20000 are allowed, split it with "uses"',
    );
  });
});

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
      'c: { run: x, check: "${{ inputs.who }}" }',
      '9:24: expressions are not filled in here; they work in prompt, run, env, with, approve, finalize, if and for-each',
    ],
    [
      'c: { run: x, env: { A: "${{ foo }}" } }',
      '9:31: "env.A" of task "c": expression "foo": unknown name "foo"; there are tasks, inputs, each, index, run',
    ],
  ])('%s', (task, message) => {
    const text = `  my-task: { run: x }\n  b: { run: x }\n  ${task}\n`;
    expect(messages(invalidTasks(text))).toEqual([message]);
  });

  test('what a need needs has ended too', () => {
    const text =
      '  a: { run: x }\n  b: { run: x, needs: [a] }\n  c: { run: "${{ tasks.a.output }}", needs: [b] }\n';
    expect(() => parseWorkflow(HEAD + text, 'bosun.yaml')).not.toThrow();
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

describe('files', () => {
  test('that cannot be read are told plainly', async () => {
    write({
      'latin.yaml': Buffer.from('name: x\ntasks: \xe9\n', 'latin1'),
      'large.yaml': `# ${'x'.repeat(4 * 1024 * 1024)}`,
    });
    const at = (name: string): string => join(directory, name);
    expect(await invalidFile(at('none.yaml'))).toBe(`cannot read ${at('none.yaml')}: there is no such file`);
    expect(await invalidFile(directory)).toBe(
      `cannot read ${directory}: it is a directory; name the file in it`,
    );
    expect(await invalidFile('/dev/null')).toBe('cannot read /dev/null: it is not a regular file');
    expect(await invalidFile(at('large.yaml'))).toBe(
      `cannot read ${at('large.yaml')}: it is larger than 4 MB`,
    );
    expect(await invalidFile(at('latin.yaml'))).toBe(
      `cannot read ${at('latin.yaml')}: it is not UTF-8 text (line 2); save it as UTF-8`,
    );
  });

  test('with a byte order mark and Windows line ends are read', async () => {
    write({ 'bosun.yaml': '\uFEFFname: x\r\ntasks:\r\n  a:\r\n    run: x\r\n' });
    expect((await loadWorkflow(join(directory, 'bosun.yaml'))).workflow.tasks['a']!.run).toBe('x');
  });

  test('in TypeScript are imported, and their problems are told', async () => {
    expect((await loadWorkflow(join(FIXTURES, 'plain.ts'))).workflow.nested?.['nested/part.yaml']?.name).toBe(
      'part',
    );
    expect(await invalidFile(join(FIXTURES, 'broken.ts'))).toBe(
      `${join(FIXTURES, 'broken.ts')}: tasks.design.needs[0]: task "design" needs "desing", but there is no such task; did you mean "design"?`,
    );
    write({ 'none.mjs': 'export const a = 1;', 'throws.mjs': 'throw new Error("boom");' });
    expect(await invalidFile(join(directory, 'none.mjs'))).toContain(
      'has no default export; write "export default workflow({ … })"',
    );
    expect(await invalidFile(join(directory, 'throws.mjs'))).toContain('cannot be loaded: boom');
  });
});

describe('files that use files', () => {
  const outer = (task: string): string => `name: outer\ntasks:\n  a: ${task}\n`;
  const inner =
    'name: inner\ninputs:\n  who: { required: true }\n  times: { type: number, default: 1 }\ntasks:\n  a: { run: x }\n';

  test('hold the workflows they use, by the path as it is written', async () => {
    const { workflow } = await loadWorkflow(join(FIXTURES, 'nested.yaml'));
    expect(Object.keys(workflow.nested!)).toEqual(['nested/part.yaml']);
    expect(workflow.nested!['nested/part.yaml']!.tasks['greet']!.run).toBe('echo ${{ inputs.who }}');
  });

  test.each([
    ['{ uses: other.yaml }', '3:14: cannot read "other.yaml": there is no such file'],
    [
      '{ uses: /etc/other.yaml }',
      '3:14: "/etc/other.yaml" is an absolute path, which exists on one machine only; write it relative to this file',
    ],
    ['{ uses: other.sh }', '3:14: "other.sh" is no workflow file; "uses" takes a .yaml, .yml or .json file'],
    ['{ uses: inner.yaml }', '3:14: inner.yaml requires the input "who"; add it to "with"'],
    [
      '{ uses: inner.yaml, with: { who: x, whoo: y } }',
      '3:42: inner.yaml has no input "whoo"; did you mean "who"?',
    ],
    [
      '{ uses: inner.yaml, with: { who: x, times: y } }',
      '3:49: input "times" of inner.yaml must be a number, but is "y"',
    ],
  ])('%s', async (task, message) => {
    write({ 'bosun.yaml': outer(task), 'inner.yaml': inner });
    const path = join(directory, 'bosun.yaml');
    expect((await invalidFile(path)).split('\n')[0]).toBe(`${path}:${message}`);
  });

  test('are told of by their own name when they are wrong', async () => {
    write({
      'bosun.yaml': outer('{ uses: sub/inner.yaml }'),
      'sub/inner.yaml': 'name: inner\ntasks:\n  a: { rn: x }\n',
    });
    expect((await invalidFile(join(directory, 'bosun.yaml'))).split('\n')[0]).toBe(
      `${join(directory, 'sub/inner.yaml')}:3:8: unknown field "rn" in task "a"; remove it`,
    );
  });

  test('must not use each other in a circle', async () => {
    const [one, two] = ['one', 'two'].map((name) => join(FIXTURES, `circle/${name}.yaml`));
    expect((await invalidFile(one!)).split('\n')[0]).toBe(
      `${two}:3:15: files use each other in a circle: ${one} → ${two} → ${one}; remove one of these uses`,
    );
  });

  test('are bounded in depth', async () => {
    const files: Record<string, string> = { 'f12.yaml': 'name: x\ntasks: { a: { run: x } }\n' };
    for (let n = 0; n < 12; n++) files[`f${n}.yaml`] = outer(`{ uses: f${n + 1}.yaml }`);
    write(files);
    expect(await invalidFile(join(directory, 'f0.yaml'))).toContain('more than 10 levels deep');
  });
});

describe('agents that are files', () => {
  const text =
    'name: x\nagents:\n  own: { runtime: cli, command: cat }\ntasks:\n  a: { agent: own, prompt: x }\n';
  const named = (name: string): string => `${text}  b: { agent: ${name}, prompt: x }\n`;

  test('are taken where the workflow names them: its own first, then ours, then those of Claude Code', () => {
    write({
      '.bosun/agents/own.md': '---\nruntime: cli\ncommand: dog\n---\n',
      '.bosun/agents/critic.md': '---\nname: critic\nruntime: cli\ncommand: [cat]\n---\nYou judge.\n',
      '.claude/agents/critic.md': '---\nname: critic\nmodel: opus\n---\nOther.\n',
      '.claude/agents/file.md':
        '---\nname: tester\ndescription: Tests\ntools: Read, Bash\nmodel: inherit\n---\nYou test.\n',
      '.claude/agents/broken.md': 'no front matter',
    });
    const load = (name: string): Workflow =>
      parseWorkflow(named(name), 'bosun.yaml', { repository: directory }).workflow;
    expect(load('critic').agents['critic']).toEqual({
      runtime: 'cli',
      command: ['cat'],
      prompt: 'You judge.',
    });
    expect(load('tester').agents['tester']).toEqual({
      runtime: 'claude-code',
      description: 'Tests',
      prompt: 'You test.',
    });
    expect(load('own').agents).toEqual({ own: { runtime: 'cli', command: 'cat' } });
  });

  test('are told of by place when they are used and wrong', () => {
    write({
      '.bosun/agents/bad.md': '---\nname: bad\nruntme: cli\n---\nx\n',
      '.bosun/agents/none.md': 'You.\n',
    });
    const problem = (name: string): string =>
      caught(() => parseWorkflow(named(name), 'bosun.yaml', { repository: directory }), 'invalid-workflow')
        .message;
    expect(problem('bad').split('\n').slice(0, 3)).toEqual([
      '.bosun/agents/bad.md:3:1: unknown field "runtme" in .bosun/agents/bad.md; did you mean "runtime"?',
      '    3 | runtme: cli',
      '      | ^^^^^^',
    ]);
    expect(problem('none')).toContain('.bosun/agents/none.md:1:1: the file does not start with front matter');
  });
});

describe('inputs', () => {
  const declared = workflow({
    name: 'x',
    inputs: {
      who: { required: true, description: 'whom to greet' },
      times: { type: 'number', default: 1 },
      loud: { type: 'boolean' },
      tone: { options: ['warm', 'cold'], default: 'warm' },
    },
    tasks: { a: { run: 'true' } },
  });
  const refused = (given: Record<string, Json>): string =>
    caught(() => resolveInputs(declared, given), 'usage').message;

  test('are typed, and have their defaults', () => {
    expect(resolveInputs(declared, { who: '7', times: '3', loud: 'true' })).toEqual({
      who: '7',
      times: 3,
      loud: true,
      tone: 'warm',
    });
    expect(resolveInputs(declared, { who: 'Ada', times: 2 })).toEqual({
      who: 'Ada',
      times: 2,
      loud: null,
      tone: 'warm',
    });
  });

  test('that do not fit are refused, all at once', () => {
    expect(refused({ times: 'many', loud: 'yes', tone: 'wram', whoo: 'x' }).split('\n')).toEqual([
      'workflow "x" has no input "whoo"; did you mean "who"?',
      'input "who" (whom to greet) is required; add --input who=<string>',
      'input "times" must be a number, but is "many"',
      'input "loud" must be true or false, but is "yes"',
      'input "tone" must be one of warm, cold, but is "wram"; did you mean "warm"?',
    ]);
  });

  test('whose default does not fit are refused in the file', () => {
    const text =
      'name: x\ninputs:\n  a: { type: number, default: x }\n  b: { options: [u, v], default: w }\n  c: { options: [1] }\ntasks: { t: { run: x } }\n';
    expect(messages(invalid(text))).toEqual([
      '3:31: the default of input "a" must be a number, but is "x"',
      '4:34: the default of input "b" must be one of u, v, but is "w"',
      '5:18: option the number 1 of input "c" must be text, as its type says',
    ]);
  });
});

describe('what a run cannot do yet', () => {
  test('is listed in one message', async () => {
    const { workflow } = await loadWorkflow(join(FIXTURES, 'calculator.yaml'));
    const { message } = caught(() => refuseUnsupported(workflow), 'not-supported');
    expect(message.split('\n')[0]).toBe(
      'workflow "calculator" is valid, but "bosun run" cannot do all of it yet:',
    );
    for (const line of [
      '  workflow: budget',
      '  agent "architect": runtime: claude-code',
      '  agent "architect": scope.write',
      '  agent "developer": fallback',
      '  agent "developer": limits.memory: 2GB',
      '  task "design": publishes',
      '  task "review": agent.runtime: claude-code',
      '  task "fix": handoff',
    ]) {
      expect(message.split('\n')).toContain(line);
    }
    expect(message).not.toContain('scope.env');
    expect(message).not.toContain('limits.minutes');
  });

  test('is found in the files that are used', () => {
    const inner = workflow({
      name: 'inner',
      tasks: { a: { run: 'true', publishes: ['p'] }, b: { run: 'true', needs: ['api:p'] } },
    });
    const outer: Workflow = {
      ...workflow({ name: 'outer', tasks: { a: { run: 'true' } } }),
      nested: { 'inner.yaml': inner },
    };
    expect(
      caught(() => refuseUnsupported(outer), 'not-supported')
        .message.split('\n')
        .slice(1, -1),
    ).toEqual(['  inner.yaml: task "a": publishes', '  inner.yaml: task "b": needs: api:p']);
  });

  test('is nothing where the agents are commands', () => {
    const able = workflow({
      name: 'x',
      workspace: { copy: ['node_modules'], setup: 'npm ci' },
      agents: {
        dev: {
          runtime: 'cli',
          command: 'cat',
          scope: { env: { A: '1' } },
          limits: { minutes: 1, output: '1MB' },
        },
        idle: { runtime: 'claude-code' },
      },
      tasks: { a: { agent: 'dev', prompt: 'x', workspace: 'none' } },
    });
    expect(() => refuseUnsupported(able)).not.toThrow();
  });
});

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
    expect(problem([{ run: 'x' }])).toBe('item 1 of the output is no task with a "name"');
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
    expect(problem({ a: { agent: { runtime: 'codex' }, prompt: 'x' } })).toBe(
      'the output asks for what a run cannot do yet: task "a": agent.runtime: codex',
    );
    expect(problem({ a: { uses: 'x.yaml' } })).toContain('which the workflow itself does not use');
    const many = Object.fromEntries(Array.from({ length: 1001 }, (_, n) => [`t${n}`, { run: 'x' }]));
    expect(problem(many)).toBe('the output has 1001 tasks; at most 1000 are allowed');
  });
});

test('a suggestion is the nearest word, and none where nothing is near', () => {
  expect(suggest('promt', ['name', 'prompt', 'prompts'])).toBe('prompt');
  expect(suggest('desgin', ['design', 'deploy'])).toBe('design');
  expect(suggest('x', ['a', 'b'])).toBeUndefined();
  expect(suggest('database', ['prompt', 'agent'])).toBeUndefined();
});
