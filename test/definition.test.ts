import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { SCHEMA_PATH, workflowSchema } from '../scripts/schema.ts';
import type { WorkflowSource } from '../src/contract/workflow.ts';
import { workflow } from '../src/definition/builder.ts';
import { loadWorkflow, parseWorkflow } from '../src/definition/load.ts';
import { caught, HEAD, invalid, invalidTasks, messages } from './fixtures/definition.ts';

const FIXTURES = join(import.meta.dirname, 'fixtures/workflows');

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
      'bosun.yaml: task "a" has "attempts" but no "check", so it gets only one attempt; see "retry"',
    ]);
    expect(workflow.tasks['a']!.needs).toEqual(['b']);
    // What an expand task wrote is judged, so that its attempts count.
    const planner = 'name: x\ntasks:\n  plan: { run: "true", attempts: 3, expand: true }\n';
    expect(parseWorkflow(planner, 'bosun.yaml').warnings).toEqual([]);
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
    ['a: &a [1]\nc: { <<: *a }\n', '2:6: "<<" takes a map or a list of maps, such as "<<: *name"'],
    ['a: { <<: *a }\n', '1:10: there is no anchor "&a" above; define it or write the value here'],
    ['a: &a { <<: *a }\n', '1:13: the alias "*a" refers to a value that it is part of; remove it'],
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
    [
      'a: { run: x, timeout: 0s }',
      '7:25: "timeout" of task "a" must be a duration above 0, such as 500ms, 30s, 10m or 2h, but is "0s"',
    ],
    [
      String.raw`a: { run: "x\0y" }`,
      '7:13: this holds a NUL character, which no command, variable or file name can hold; remove it',
    ],
    [
      String.raw`a: { run: x, env: { "A\0B": y }, check: "\0" }`,
      '7:23: this holds a NUL character, which no command, variable or file name can hold; remove it',
    ],
    ['a: { run: x, attempts: 0 }', '7:26: "attempts" of task "a" must be at least 1, but is the number 0'],
    [
      'a: { run: x, attempts: 1.5 }',
      '7:26: "attempts" of task "a" must be a whole number, but is the number 1.5',
    ],
    [
      'a: { run: x, workspace: nil }',
      '7:27: "workspace" of task "a" must be none or a map with copy, setup and network, but is "nil"',
    ],
    [
      'a: { run: x, workspace: { cpy: [a] } }',
      '7:29: unknown field "cpy" in "workspace" of task "a"; did you mean "copy"?',
    ],
    [
      'a: { run: x, for-each: 3 }',
      '7:26: "for-each" of task "a" must be a list or an expression that gives one, but is the number 3',
    ],
    [
      'a: { approve: { question: Which?, choices: [x, X] } }',
      '7:50: task "a" has the choice "X" twice; remove one',
    ],
    [
      'a: { approve: { question: Which?, choices: [x, y], default: no } }',
      '7:63: "default" of task "a" must be x or y, but is "no"',
    ],
    [
      'a: { approve: { question: Sure?, default: maybe } }',
      '7:45: "default" of task "a" must be yes or no, but is "maybe"',
    ],
    ['a: { approve: {} }', '7:17: "approve" of task "a" has no "question"; add it'],
    [
      'a: { agent: { runtime: clii }, prompt: x }',
      '7:26: "agent.runtime" of task "a" must be one of claude-code, opencode, codex, acp, cli, but is "clii"; did you mean "cli"?',
    ],
    [
      'a: { agent: { runtime: claude }, prompt: x }',
      'acp, cli, but is "claude"; did you mean "claude-code"?',
    ],
    [
      'a: { agent: { runtime: gemini }, prompt: x }',
      'but is "gemini"; for Gemini CLI use "acp" with the command "gemini --acp"',
    ],
    ['a: { run: x, depends_on: [b] }', 'unknown field "depends_on" in task "a"; did you mean "needs"?'],
    ['a: { command: x }', 'unknown field "command" in task "a"; did you mean "run"?'],
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
      '7:3: the name of task "1a" must start with a letter or "_" and hold only letters, digits, "-" and "_"',
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

  test('a place for anchors, as compose files have it, is told to be defaults', () => {
    expect(messages(invalid('x-common: &c { timeout: 1m }\nname: x\ntasks: { a: { run: x } }\n'))).toEqual([
      '1:1: unknown field "x-common" in the workflow; put what tasks or agents have in common under "defaults"',
    ]);
  });

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
      '7:3: task "a" has nothing to do; give it one of run, agent (with prompt), uses, approve, handoff or race',
    ],
    ['a: { prompt: x }', '7:3: task "a" has a prompt but no agent; add "agent: <name>"'],
    ['a: { agent: dev }', '7:8: task "a" has an agent but no prompt; add "prompt: <what to do>"'],
    [
      'a: { run: x, agent: dev }',
      '7:16: task "a" has both "run" and "agent"; a task does one thing: make it two tasks, or remove one',
    ],
    [
      'a: { run: x, prompt: y }',
      '7:16: "prompt" of task "a" works only with agent, handoff or race, but the task has "run"; remove it',
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
      'a: { run: x, for-each: [1], continuous: { every: 1s } }',
      '7:31: "continuous" of task "a" cannot be had with "for-each"; remove one of them',
    ],
    [
      'a: { run: x, needs: [b] }\n  b: { run: x, continuous: { every: 1s } }',
      '7:24: task "a" needs "b", which is continuous and ends after all other tasks; remove the need',
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
      'a: { agent: { model: m, fallback: [{ runtime: claude-code, model: m }] }, prompt: x }',
      '7:38: the agent of task "a" falls back from "claude-code" to itself; remove it, or give it another model',
    ],
    [
      'a: { agent: { fallback: [codx] }, prompt: x }',
      '7:28: "agent.fallback[0]" of task "a" must be one of claude-code, opencode, codex, acp, cli, or a map with runtime and model, but is "codx"',
    ],
    [
      'a: { agent: { fallback: [{ runtime: codex, modell: m }] }, prompt: x }',
      '7:46: unknown field "modell" in "agent.fallback[0]" of task "a"; did you mean "model"?',
    ],
    [
      'a: { agent: { fallback: [cli], command: x }, prompt: x }',
      '7:28: the agent of task "a" cannot fall back from "claude-code" to "cli": cli is a family of its own; the others are claude-code, opencode, codex and acp',
    ],
    ['a: { run: x, output: { type: nothing } }', '7:16: "output" of task "a" is not a usable JSON Schema: '],
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

  test('more than 1,000 variables of a task, an agent or a tool server are refused', () => {
    const env = Object.fromEntries(Array.from({ length: 1001 }, (_, n) => [`V${n}`, 'x']));
    const server = { command: 'x', env };
    const tasks = { a: { run: 'true', env }, b: { agent: 'dev', prompt: 'x', scope: { env } } };
    const agents = { dev: { mcp: { s: server, u: { url: 'https://x.dev', headers: env } } } };
    const { message } = caught(() => workflow({ name: 'x', agents, tasks }), 'invalid-workflow');
    const places = ['"mcp.s.env" of agent "dev"', '"mcp.u.headers" of agent "dev"', '"env" of task "a"'];
    for (const place of [...places, '"scope.env" of task "b"'])
      expect(message).toContain(`${place} has 1001 entries; at most 1000 are allowed, put them into a file`);
  });

  test('more than 20,000 tasks are refused', () => {
    const tasks = Object.fromEntries(Array.from({ length: 20_001 }, (_, n) => [`t${n}`, { run: 'true' }]));
    expect(caught(() => workflow({ name: 'x', tasks }), 'invalid-workflow').message).toBe(
      'tasks: the workflow has 20001 tasks; at most 20000 are allowed, split it with "uses"',
    );
  });
});
