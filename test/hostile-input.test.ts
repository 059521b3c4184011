import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { afterAll, expect, test } from 'vitest';
import { comparedName } from '../src/base/dot-git.ts';
import { normalizeGlob } from '../src/base/glob-syntax.ts';
import { compileGlobs, globsOverlap } from '../src/base/globs.ts';
import { namedByConnection } from '../src/base/hop-by-hop.ts';
import { normalText } from '../src/base/normal-text.ts';
import { parseJson } from '../src/base/parse-json.ts';
import { compilePattern } from '../src/base/pattern.ts';
import type { Json, Workflow } from '../src/contract/workflow.ts';
import { createRun } from '../src/run/create-run.ts';
import { loadRun } from '../src/run/load-run.ts';
import { workflow as build } from '../src/definition/builder.ts';
import { checkExpansionApart } from '../src/definition/expansion/thread.ts';
import { hostProblem } from '../src/definition/check/hosts.ts';
import { meterFor } from '../src/gateway/money/meter.ts';
import { compilePasses } from '../src/gateway/request/passes.ts';
import type { AskedModel } from '../src/model-server/asked.ts';
import { Plan } from '../src/model-server/plan.ts';
import { checkFile } from '../src/operations/check.ts';
import { LogTail } from '../src/report/text/log-tail.ts';
import { reportDiff } from '../src/report/patch/patch.ts';
import { PatchReader } from '../src/report/patch/patch-reader.ts';
import { inOneLine } from '../src/report/text/plain.ts';
import { agentError } from '../src/runtime/agent/error.ts';
import { readMessages } from '../src/runtime/agent/lines.ts';
import { MessageStream } from '../src/runtime/agent/message-stream.ts';
import { usagePrinted } from '../src/runtime/cli/usage.ts';
import { jsonIn } from '../src/runtime/output/json-in-text.ts';
import { outputProblem } from '../src/runtime/output/structured-output.ts';
import {
  checkExpression,
  evaluate,
  ExpressionError,
  parseTemplate,
} from '../src/schedule/expression/expression.ts';
import { Loop } from '../src/run/loop.ts';
import { openSqliteStore } from '../src/store/sqlite.ts';
import { rootRules } from '../src/workspace/ignore/rules.ts';
import { BUSY_MS_MAX, busiestMs } from './fixtures/busiest.ts';

/** It gives up, and says so. */
const refused = (act: () => unknown): void => expect(act).toThrow(/take too long/);

const scope = (output: Json) => ({ tasks: { a: { output } }, inputs: {}, run: { id: 'r-1', name: 'r' } });
const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n);
const lines = (count: number, line: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => line(n)).join('\n');
const names = (count: number, start = 't'): string[] =>
  Array.from({ length: count }, (_, n) => `${start}${n}`);
/** Made beforehand: what it takes to make them is nobody's. */
const MANY_KEYS = `{"usage":{"a":1},${names(500_000)
  .map((name) => `"${name}":1`)
  .join(',')}}\n`;
const PATCH = Buffer.from(`@@ -0,0 +1,1000000 @@\n${'+a\n'.repeat(1_000_000)}`);
const EVENT = Buffer.from(`data: ${MANY_KEYS}`);
const chunksOf = (text: string): Buffer[] => {
  const bytes = Buffer.from(text);
  return Array.from({ length: Math.ceil(bytes.length / 65_536) }, (_, n) =>
    bytes.subarray(n * 65_536, (n + 1) * 65_536),
  );
};
const tried = (expression: string, output: Json): void => {
  expect(() => evaluate(expression, scope(output))).toThrow(ExpressionError);
};
const workflow = { name: 'w', agents: {}, inputs: {}, concurrency: 1, tasks: {} } as unknown as Workflow;
const planned = (count: number, task: (n: number) => Json): Promise<unknown> =>
  checkExpansionApart(Object.fromEntries(names(count).map((name, n) => [name, task(n)])), workflow, {
    scope: {},
    limits: {},
    globsOfPeople: [],
  });

const scratch = mkdtempSync(path.join(tmpdir(), 'bosun-hostile-input-'));
afterAll(() => rmSync(scratch, { recursive: true }));
const file = (name: string, text: string): { cwd: string; file: string } => {
  writeFileSync(path.join(scratch, name), text);
  return { cwd: scratch, file: name };
};
const WORKFLOWS = {
  tasks: file(
    'tasks.yaml',
    `name: w\ntasks:\n${lines(2000, (n) => `  t${n}: { run: x, scope: { write: [dir${n}/**] } }`)}`,
  ),
  list: file('list.yaml', `name: w\ntasks:\n  a: { run: x, for-each: [${'1,'.repeat(60_000)}1] }\n`),
  agents: file(
    'agents.yaml',
    `name: w\nagents:\n${lines(2000, (n) => `  a${n}: { promt: x }`)}\ntasks:\n  t: { run: x }\n`,
  ),
};
const COSTLY = 'tasks.a.output.all(x, x + 1 > x && x - 1 < x)';
/** How the second task ends, which is decided on once the first has given this output. */
const driven = async (output: Json, second: Record<string, unknown>): Promise<string> => {
  const tasks = { a: { run: 'x' }, b: { run: 'x', needs: ['a'], ...second } };
  await using store = openSqliteStore(path.join(scratch, `${performance.now()}.db`));
  const workflow = build({ name: 'w', concurrency: 1000, tasks });
  const run = { workflow, source: 'test', inputs: {}, base: 'c0', dirty: false };
  const { id, claim } = await createRun(store, run, 0);
  claim[Symbol.dispose](); // other journals of these tests are in the same place
  const { state, lastSeq } = await loadRun(store, id);
  const loop = new Loop({
    older: new Set(),
    store,
    state,
    lastSeq,
    nowMs: () => 0,
    act: (decision) => {
      if (decision.type !== 'attempt.started') return;
      const { task, attempt } = decision;
      const given = task === 'a' ? { output } : {};
      loop.submit({
        type: 'attempt.finished',
        task,
        attempt,
        outcome: { kind: 'done' },
        durationMs: 0,
        ...given,
      });
    },
  });
  loop.start([]);
  const { outcome } = (await loop.finished).nodes.get('b')!;
  return outcome?.kind === 'failed' ? outcome.message : outcome!.kind;
};

const CASES: Record<string, () => unknown> = {
  'JSON that nests without end': () =>
    expect(parseJson('['.repeat(400_000) + ']'.repeat(400_000))).toBeUndefined(),
  'a text full of brackets': () => jsonIn(`${'['.repeat(2000)}${'1,'.repeat(300_000)}1 x ]`, true),
  'JSON with very many keys': () => expect(parseJson(MANY_KEYS)).toBeUndefined(),
  'a message of an agent with very many keys': async () => {
    let why = '';
    const stream = new MessageStream((problem) => (why = problem), new PassThrough());
    stream.readFrom(Readable.from(chunksOf(MANY_KEYS)));
    expect(await stream.toArray()).toEqual([]);
    expect(why).toContain('too many parts');
  },
  'a line of an agent with very many keys': async () => {
    expect(await readMessages(Readable.from(chunksOf(MANY_KEYS)), { take() {} })).toContain('"t0":1');
  },
  'an event of a provider with very many keys': () => meterFor('chat', 'text/event-stream').push(EVENT),
  'a code fence that is never closed': () => jsonIn(`\`\`\`\n${'\n'.repeat(60_000)}x`, true),
  'a pattern with two ways to repeat': () => compilePattern('^(a+)+$').test(`${'a'.repeat(5000)}!`),
  'a schema with such a pattern': async () =>
    expect(await outputProblem({ type: 'string', pattern: '^(a+)+$' }, `${'a'.repeat(40)}!`)).toContain(
      'seconds',
    ),
  'a schema that refers to itself': async () =>
    expect(await outputProblem({ $ref: '#/$defs/n', $defs: { n: { $ref: '#/$defs/n' } } }, 1)).toContain(
      'schema',
    ),
  'a rule for usage with such a pattern': () =>
    usagePrinted(
      { 'input-tokens': '(\\d+\\s*)+x' },
      { stdoutTail: '1'.repeat(5000), stderrTail: '', outcome: { kind: 'done' } },
    ),
  'a rule for usage that reads to the end for each short match': () =>
    expect(() => compilePattern('(?:a*b)|(a)', 'm').lastGroup('a'.repeat(16_000))).toThrow('too long'),
  'an expression with a long pattern in every step': () =>
    tried(
      `tasks.a.output.all(x, !x.matches("${'(a|b)?'.repeat(80)}c"))`,
      Array.from({ length: 20_000 }, () => 'ab'.repeat(20)),
    ),
  'an expression with loops in loops': () =>
    tried('tasks.a.output.all(x, tasks.a.output.all(y, tasks.a.output.all(z, z < 0 || true)))', numbers(400)),
  'an expression that makes lists of lists': () =>
    tried('tasks.a.output.map(x, tasks.a.output.map(y, tasks.a.output.map(z, string(x))))', numbers(200)),
  'an expression that doubles a text': () => {
    let sum = 'tasks.a.output';
    for (let n = 0; n < 8; n += 1) sum = `(${sum} + ${sum})`;
    tried(`${sum}.size()`, 'a'.repeat(1_000_000));
  },
  'an expression that looks through a long text often': () =>
    tried('tasks.a.output.l.all(x, !tasks.a.output.t.contains("b"))', {
      l: numbers(20_000),
      t: 'a'.repeat(1_000_000),
    }),
  'an expression that takes a text apart in each step': () =>
    tried(
      'tasks.a.output.all(x, x.split("").size() > 0)',
      numbers(5000).map(() => 'ab'.repeat(1000)),
    ),
  'an expression with a long loop': () =>
    tried(
      `tasks.a.output.all(x, ${Array.from({ length: 300 }, (_, n) => `string(x) != '${n}q'`).join(' && ')})`,
      numbers(20_000),
    ),
  'an expression that fails on each of many items': () =>
    tried('tasks.a.output.all(x, x.y)', numbers(400_000)),
  'an expression that adds lists up in a loop': () =>
    tried('tasks.a.output.map(x, (tasks.a.output + tasks.a.output).size())', numbers(5000)),
  'an expression that adds lists up without one': () =>
    tried(`(${Array.from({ length: 200 }, () => 'tasks.a.output').join(' + ')}).size()`, numbers(20_000)),
  'an expression that looks for a text in each step': () =>
    tried('tasks.a.output.all(x, !("zz" in tasks.a.output))', numbers(20_000).map(String)),
  'an expression that compares lists': () =>
    tried('tasks.a.output.exists(x, tasks.a.output + [x] == tasks.a.output)', numbers(10_000)),
  'an expression that asks for many local times': () =>
    tried('tasks.a.output.all(x, timestamp(x).getHours("Europe/Vienna") > 24 || true)', numbers(3000)),
  'a glob of braces': () => normalizeGlob('{'.repeat(499) + ',,' + '}'.repeat(499)),
  'a glob of stars': () => compileGlobs(['*a'.repeat(400)])(`${'a'.repeat(4000)}/`),
  'a glob of deep stars': () => compileGlobs([`${'**/a/'.repeat(150)}b`])(`${'a/'.repeat(2000)}c`),
  'two globs that nearly meet': () => globsOverlap('**/*a*'.repeat(100), '**/*b*'.repeat(100)),
  'a .gitignore full of stars': () =>
    refused(() =>
      rootRules([], `*${'a'.repeat(60)}[bc]\n`.repeat(1000)).ignores(`${'a'.repeat(200)}bd`, false),
    ),
  'a .gitignore of deep stars': () =>
    refused(() =>
      rootRules([], `${'**/*a/'.repeat(60)}[bc]\n`.repeat(300)).ignores(`${'a/'.repeat(1800)}d`, false),
    ),
  'a .gitignore of 10,000 rules': () =>
    rootRules(
      [],
      lines(10_000, (n) => `dir${n}/*`),
    ).ignores('dir0/file', false),
  'a line of carriage returns': () =>
    new LogTail().add({ attempt: 1, stream: 'stdout', text: `${'\r'.repeat(65_535)}x\n` }, 1e6),
  'a patch of a million lines': () => {
    const reader = new PatchReader();
    reader.add(PATCH);
    reportDiff(reader.end(), 256_000);
  },
  'a message of blanks': () => inOneLine(`x${' '.repeat(65_536)}x`),
  'texts that look like what differs by chance': () => {
    for (const text of [
      '\\'.repeat(65_536),
      'call-'.repeat(13_000),
      `duration${' '.repeat(65_536)}`,
      `bosun/${'/a'.repeat(32_768)}`,
    ])
      normalText(`${text}x`, new Map());
  },
  'a host of dots': () => hostProblem(`a${'.'.repeat(65_536)}a.`),
  'a connection of blanks': () => namedByConnection(`a${' '.repeat(65_536)}a`),
  'an error that sends one to log in': () => agentError('please run '.repeat(10_000)),
  'a long name with dashes that nobody knows': () => checkExpression(`'${'a.'.repeat(4800)}' == zz`),
  'names of files that are all dots': () => {
    for (let n = 0; n < 3000; n += 1) comparedName(`${'.'.repeat(254)}x`);
  },
  'a request against a pass of stars': () =>
    compilePasses({ p: [`GET /${'*a'.repeat(30)}b`] }, { p: 'openai' })('p', 'GET', `/${'a'.repeat(2000)}`),
  'a model against a rule of stars': () =>
    new Plan({ rules: [{ when: { model: `${'*a'.repeat(12)}b` }, text: 'x' }] }).choose({
      dialect: 'openai',
      model: 'a'.repeat(200),
      turn: 0,
    } as AskedModel),
  'a workflow of 2,000 tasks': async () =>
    expect((await checkFile(WORKFLOWS.tasks)).owners).toHaveLength(2000),
  'a workflow with a long list': () => expect(checkFile(WORKFLOWS.list)).rejects.toThrow('60001 items'),
  'a workflow with thousands of mistakes': () =>
    expect(checkFile(WORKFLOWS.agents)).rejects.toThrow('1980 more problems'),
  'a text of very many expressions': () =>
    expect(() => parseTemplate('${{ 1 }}'.repeat(30_000))).toThrow('more than 1000 expressions'),
  'a task with many costly expressions': async () => {
    const env = Object.fromEntries(names(500, 'V').map((name) => [name, `\${{ ${COSTLY} }}`]));
    expect(await driven(numbers(5000), { env })).toContain('steps');
  },
  'a task with many expressions that give long lists': async () => {
    const env = Object.fromEntries(names(500, 'V').map((name) => [name, '${{ tasks.a.output }}']));
    expect(await driven(numbers(50_000), { env })).toContain('steps');
  },
  'a group of tasks that each have a costly condition': async () => {
    const each = {
      'for-each': '${{ tasks.a.output.filter(x, x < 200) }}',
      if: `\${{ each < 0 || ${COSTLY} }}`,
    };
    expect(await driven(numbers(5000), each)).toBe('done');
  },
  'a plan of 20,000 tasks': () => planned(20_000, () => ({ run: 'x' })),
  'a plan with too many needs': async () =>
    expect(await planned(300, () => ({ run: 'x', needs: names(300) }))).toEqual({
      problem: expect.stringContaining('90000 needs') as string,
    }),
  'a plan whose needs nobody knows': async () =>
    expect(await planned(300, (n) => ({ run: 'x', needs: names(60, `u${n}x`) }))).toEqual({
      problem: expect.stringContaining('no such task') as string,
    }),
};

test.each(Object.entries(CASES))('%s keeps nobody waiting', { timeout: 120_000 }, async (_, act) => {
  expect(await busiestMs(act)).toBeLessThan(BUSY_MS_MAX);
});
