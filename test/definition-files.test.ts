import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { suggest } from '../src/base/suggest.ts';
import { BosunError } from '../src/contract/errors.ts';
import type { Json, Workflow } from '../src/contract/workflow.ts';
import { workflow } from '../src/definition/builder.ts';
import { resolveInputs } from '../src/definition/inputs.ts';
import { loadWorkflow, parseWorkflow } from '../src/definition/load.ts';
import { caught, invalid, messages } from './fixtures/definition.ts';

const FIXTURES = join(import.meta.dirname, 'fixtures/workflows');

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

async function invalidFile(path: string, repository?: string): Promise<string> {
  const error = await loadWorkflow(path, repository === undefined ? {} : { repository }).catch(
    (e: unknown) => e,
  );
  expect(error).toBeInstanceOf(BosunError);
  expect(error).toMatchObject({ code: 'invalid-workflow' });
  return (error as Error).message;
}

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
    const idle = join(FIXTURES, 'idle-agent.ts');
    expect((await loadWorkflow(idle)).warnings).toEqual([`${idle}: agent "idle" is named by no task`]);
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
    [
      '{ uses: other.sh }',
      '3:14: "other.sh" is not a workflow file; "uses" takes a .yaml, .yml or .json file',
    ],
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

describe('files of a repository', () => {
  test('are no links out of it: workflows, what they use, and agents', async () => {
    const repository = join(directory, 'repository');
    write({
      'secret.yaml': 'hunter2: x\n',
      'agents/spy.md': '---\nhunter2: x\n---\n',
      'repository/bosun.yaml': 'name: x\ntasks:\n  a: { uses: linked.yaml }\n  b: { uses: ../secret.yaml }\n',
      'repository/spied.yaml': 'name: x\ntasks:\n  a: { agent: spy, prompt: x }\n',
      'repository/.bosun/agents/own.md': '---\n---\n',
    });
    symlinkSync('../secret.yaml', join(repository, 'linked.yaml'));
    mkdirSync(join(repository, '.claude'));
    symlinkSync('../../agents', join(repository, '.claude/agents'));
    symlinkSync('../../../agents/spy.md', join(repository, '.bosun/agents/spy.md'));
    const all = ['linked', 'bosun', 'spied'].map((name) =>
      invalidFile(join(repository, `${name}.yaml`), repository),
    );
    const told = (await Promise.all(all)).join('\n');
    expect(told.match(/leads out of the repository; put the file itself there/g)).toHaveLength(4);
    expect(told).not.toContain('hunter2');
    execFileSync('sh', ['-c', 'mkfifo "$0"', join(repository, '.bosun/agents/pipe.md')]);
    expect(await invalidFile(join(repository, 'spied.yaml'), repository)).toContain('leads out');
  });

  test('that bosun obeys by their names are no links at all, since agents may change what a link leads to', async () => {
    const repository = join(directory, 'repository');
    write({
      'repository/elsewhere/flow.yaml': 'name: x\ntasks:\n  a: { agent: spy, prompt: x }\n',
      'repository/elsewhere/spy.md': '---\n---\n',
    });
    symlinkSync('elsewhere', join(repository, '.bosun'));
    symlinkSync('elsewhere', join(repository, '.claude'));
    symlinkSync('.', join(repository, 'elsewhere/agents'));
    symlinkSync('elsewhere/flow.yaml', join(repository, 'bosun.yaml'));
    for (const name of ['bosun.yaml', 'elsewhere/flow.yaml'])
      expect(await invalidFile(join(repository, name), repository), name).toContain(
        'it is reached through a link; put the file itself there',
      );
  });

  test('that a person names elsewhere may use what lies beside them', async () => {
    write({
      'there/bosun.yaml': 'name: x\ntasks:\n  a: { uses: part.yaml }\n',
      'there/part.yaml': 'name: part\ntasks: { a: { run: x } }\n',
      'repository/x': '',
    });
    const options = { repository: join(directory, 'repository') };
    const { workflow } = await loadWorkflow(join(directory, 'there/bosun.yaml'), options);
    expect(Object.keys(workflow.nested!)).toEqual(['part.yaml']);
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

test('a suggestion is the nearest word, and none where nothing is near', () => {
  expect(suggest('promt', ['name', 'prompt', 'prompts'])).toBe('prompt');
  expect(suggest('desgin', ['design', 'deploy'])).toBe('design');
  expect(suggest('x', ['a', 'b'])).toBeUndefined();
  expect(suggest('database', ['prompt', 'agent'])).toBeUndefined();
});
