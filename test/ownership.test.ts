import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { BosunError } from '../src/contract/errors.ts';
import { WorkflowFile, type Workflow, type WorkflowSource } from '../src/contract/workflow.ts';
import { checkWorkflow } from '../src/definition/check/check.ts';
import { parseWorkflow } from '../src/definition/load.ts';
import { ownership } from '../src/definition/check/ownership.ts';
import { effectiveLimits, effectiveScope } from '../src/schedule/workflow/scope-of.ts';
import { bosun } from './fixtures/cli.ts';

const AGENTS = `name: x
agents:
  dev: { runtime: cli, command: cat, scope: { write: [src/**, test/**] } }
  tester: { runtime: cli, command: cat, scope: { write: [test/*.ts] } }
  writer: { runtime: cli, command: cat, scope: { write: [docs/**] } }
  reader: { runtime: cli, command: cat, scope: { write: [] } }
  free: { runtime: cli, command: cat }
tasks:
`;

/** The messages with their places, without excerpts. */
function problems(text: string): string[] {
  try {
    parseWorkflow(text, 'f');
    return [];
  } catch (error) {
    expect(error).toMatchObject({ code: 'invalid-workflow' });
    return (error as BosunError).message.split('\n').filter((line) => line.startsWith('f:'));
  }
}
const scopeProblems = (agent: string): string[] =>
  problems(`name: x\nagents:\n  dev: { runtime: cli, command: cat, ${agent} }\ntasks: { a: { run: x } }\n`);
const filled = (source: WorkflowSource, nested?: Record<string, Workflow>): Workflow => ({
  ...WorkflowFile.parse(source),
  ...(nested && { nested }),
});
type Scope = NonNullable<NonNullable<WorkflowSource['agents']>[string]['scope']>;
const task = (scope: Scope, needs: string[] = []): WorkflowSource['tasks'][string] => ({
  agent: { runtime: 'cli', command: 'cat', scope },
  prompt: 'x',
  needs,
});
const overlapping = (tasks: WorkflowSource['tasks']): string[] =>
  ownership(filled({ name: 'x', tasks })).overlaps.map(({ a, b, example }) => `${a} ${b} ${example}`);

describe('two tasks that own the same file', () => {
  test('and can run at the same time are an error that names both, a file and the way out', () => {
    expect(problems(`${AGENTS}  a: { agent: dev, prompt: x }\n  b: { agent: tester, prompt: x }\n`)).toEqual([
      'f:10:15: tasks "a" and "b" can run at the same time and own the same file, such as test/x.ts (by "test/**" and "test/*.ts"); let one need the other, narrow the globs, or name the file under "shared" in both scopes',
    ]);
  });

  test('by the same agent are one too', () => {
    expect(problems(`${AGENTS}  a: { agent: dev, prompt: x }\n  b: { agent: dev, prompt: x }\n`)).toEqual([
      expect.stringMatching(/^f:10:15: tasks "a" and "b" .* such as src\/x \(both by "src\/\*\*"\)/),
    ]);
  });

  test('are fine where one comes before the other, however far', () => {
    const chain = {
      a: task({ write: ['x'] }),
      m: { run: 'x', needs: ['a'] },
      b: task({ write: ['x'] }, ['m']),
    };
    expect(overlapping(chain)).toEqual([]);
    expect(overlapping({ ...chain, c: task({ write: ['x'] }, ['a']) })).toEqual(['b c x']);
  });

  test('are an error where one only waits for a publication of the other', () => {
    const a = { ...task({ write: ['x'] }), publishes: ['p'] };
    expect(overlapping({ a, b: task({ write: ['x'] }, ['api:p']) })).toEqual(['a b x']);
  });

  test('are fine where both share it, and an error where only one does', () => {
    const both = { write: ['src/**'], shared: ['CHANGELOG.md'] };
    const other = { write: ['docs/**'], shared: ['CHANGELOG.md'] };
    expect(overlapping({ a: task(both), b: task(other) })).toEqual([]);
    expect(overlapping({ a: task(both), b: task({ write: ['docs/**', 'CHANGELOG.md'] }) })).toEqual([
      'a b CHANGELOG.md',
    ]);
    expect(overlapping({ a: task(both), b: task({ write: ['*.md'], shared: ['CHANGELOG.md'] }) })).toEqual(
      [],
    );
    expect(overlapping({ a: task(both), b: task({ write: ['*.md'] }) })).toEqual(['a b CHANGELOG.md']);
    expect(
      overlapping({ a: task({ write: ['CHANGELOG.md'] }), b: task({ write: [], shared: ['*.md'] }) }),
    ).toEqual(['a b CHANGELOG.md']);
  });

  test('are fine where all that the same scope has is shared', () => {
    const scope = { write: ['CHANGELOG.md'], shared: ['*.md'] };
    expect(overlapping({ a: task(scope), b: task(scope) })).toEqual([]);
    expect(overlapping({ a: task({ ...scope, shared: ['docs/*.md'] }), b: task(scope) })).toHaveLength(1);
  });

  test('are an error where more than the shared file is in both', () => {
    const scope = { write: ['**'], shared: ['CHANGELOG.md'] };
    expect(overlapping({ a: task(scope), b: task(scope) })).toHaveLength(1);
  });

  test('are fine as items of one for-each', () => {
    expect(overlapping({ a: { ...task({ write: ['x'] }), 'for-each': [1, 2] } })).toEqual([]);
  });

  test('are found among the agents of a handoff, at the name of the agent', () => {
    const text = `${AGENTS}  a: { agent: writer, prompt: x }\n  b: { handoff: [dev, writer], prompt: x }\n`;
    expect(problems(text)).toEqual([expect.stringMatching(/^f:10:23: tasks "a" and "b" .* docs\/x /)]);
  });

  test('are not looked for while needs are wrong', () => {
    const text = `${AGENTS}  a: { agent: dev, prompt: x, needs: [c] }\n  b: { agent: dev, prompt: x }\n`;
    expect(problems(text)).toEqual([expect.stringContaining('there is no such task')]);
  });
});

describe('a task without a write scope', () => {
  test('owns nothing, nor does one that may write nothing', () => {
    const text = `${AGENTS}  a: { agent: free, prompt: x }\n  b: { agent: reader, prompt: x }\n  c: { run: x }\n`;
    expect(ownership(parseWorkflow(text, 'f').workflow)).toEqual({
      owners: [],
      overlaps: [],
      isComplete: true,
    });
    expect(problems(`${text}  d: { agent: dev, prompt: x }\n`)).toEqual([]);
  });
});

describe('a workflow that is used', () => {
  const part = filled({
    name: 'part',
    tasks: { build: task({ write: ['src/**'] }), doc: task({ write: ['docs'] }) },
  });
  const using = (needs: string[]): Workflow =>
    filled(
      { name: 'x', tasks: { one: { uses: 'p.yaml' }, two: { uses: 'p.yaml', needs } } },
      { 'p.yaml': part },
    );

  test('owns what its tasks own, for the task that uses it', () => {
    expect(ownership(using(['one'])).owners.map(({ pattern, task }) => `${pattern} ${task}`)).toEqual([
      'src/** one/build',
      'docs one/doc',
      'src/** two/build',
      'docs two/doc',
    ]);
  });

  test('cannot be used twice at the same time where it owns files', () => {
    expect(checkWorkflow(using(['one']))).toEqual([]);
    expect(checkWorkflow(using([])).map(({ path, message }) => [path.join('.'), message])).toEqual([
      ['tasks.two.uses', expect.stringContaining('tasks "one/build" and "two/build"')],
      ['tasks.two.uses', expect.stringContaining('tasks "one/doc" and "two/doc"')],
    ]);
  });
});

describe('ten thousand tasks', () => {
  const many = (make: (n: number) => WorkflowSource['tasks'][string]): Workflow =>
    filled({
      name: 'x',
      tasks: Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`t${n}`, make(n)])),
    });
  function timed(workflow: Workflow): { overlaps: number; isQuick: boolean } {
    // Every task against every other would take minutes of processor time; a busy machine does not matter to it.
    const before = process.cpuUsage();
    const overlaps = ownership(workflow).overlaps.length;
    return { overlaps, isQuick: process.cpuUsage(before).user < 15_000_000 };
  }

  test('one after another, with a few scopes, are compared quickly', () => {
    const scopes = [['src/**'], ['**/*.md', 'docs/**'], ['src/a', 'test/**'], ['**']];
    const workflow = many((n) => task({ write: scopes[n % 4]! }, n === 0 ? [] : [`t${n - 1}`]));
    expect(timed(workflow)).toEqual({ overlaps: 0, isQuick: true });
  });

  test('side by side, each with a directory of its own, are compared quickly', () => {
    expect(timed(many((n) => task({ write: [`packages/p${n}/**`] })))).toEqual({
      overlaps: 0,
      isQuick: true,
    });
  });

  test('side by side with the same scope are told of once', () => {
    expect(timed(many(() => task({ write: ['src/**'] })))).toEqual({ overlaps: 1, isQuick: true });
  });

  test('with as many globs that begin with a wildcard are refused, not guessed at', () => {
    const startMs = performance.now();
    const messages = checkWorkflow(many((n) => task({ write: [`**/a${n}.ts`] }))).map(
      ({ message }) => message,
    );
    expect(messages).toEqual([expect.stringContaining('too many different globs to compare')]);
    expect(performance.now() - startMs).toBeLessThan(40_000);
  });
});

describe('a scope', () => {
  test.each([
    ['write: [src/**, ../x]', 'f:3:63: "../x" in "scope.write" of agent "dev" holds ".."'],
    ['write: [/etc]', '"/etc" in "scope.write" of agent "dev" is an absolute path'],
    ['shared: [.git/config]', '"scope.shared" of agent "dev" lies in .git'],
    ['hide: ["!a"]', 'begins with "!"'],
    ['grant: [../x]', '"../x" in "scope.grant"'],
    ['read: [../x]', '"../x" in "scope.read" of agent "dev" holds ".."'],
    ['read: [/opt/../etc]', 'holds ".."'],
    ['read: [/]', 'is the whole machine'],
    ['read: [/opt/*]', 'takes paths'],
    ['read: ["~bob/x"]', 'home of somebody else'],
    ['read: [""]', 'is empty'],
  ])('{ %s } is refused', (scope, message) => {
    expect(scopeProblems(`scope: { ${scope} }`)).toEqual([expect.stringContaining(message)]);
  });

  test('may read paths of the machine, of the home and of the repository', () => {
    expect(scopeProblems('scope: { read: [/opt/tool, ~/.cache/x, lib/data] }')).toEqual([]);
  });

  test('cannot write what it hides', () => {
    expect(scopeProblems('scope: { write: [docs/**, secrets/a], hide: [.env, secrets/**] }')).toEqual([
      expect.stringMatching(
        /"secrets\/a" in "scope.write" of agent "dev" lies in what "secrets\/\*\*" in "hide" hides, .*remove one/,
      ),
    ]);
    expect(scopeProblems('scope: { shared: [.env], hide: [.env] }')).toHaveLength(1);
    expect(scopeProblems('scope: { write: [docs/**, .envrc], hide: [.env, secrets/**] }')).toEqual([]);
  });

  test('may hide a part of what it writes', () => {
    expect(scopeProblems('scope: { write: [src/**], hide: [src/secret/**, "**/.env"] }')).toEqual([]);
    expect(scopeProblems('scope: { write: [src/secret/a/**], hide: [src/secret/**] }')).toHaveLength(1);
  });

  test('has at most 2,000 entries', () => {
    const globs = (count: number): string => Array.from({ length: count }, (_, n) => `a${n}/**`).join(', ');
    expect(scopeProblems(`scope: { write: [${globs(2000)}] }`)).toEqual([]);
    expect(scopeProblems(`scope: { write: [${globs(2001)}] }`)).toEqual([
      expect.stringContaining('"scope" of agent "dev" has 2001 globs, paths and hosts; at most 2000'),
    ]);
  });

  test('of an agent that stands in the task is checked at its place', () => {
    const text =
      'name: x\ntasks:\n  a: { agent: { runtime: cli, command: x, scope: { write: [../x] } }, prompt: x }\n';
    expect(problems(text)).toEqual([
      expect.stringMatching(/^f:3:60: "\.\.\/x" in "agent.scope.write" of task "a"/),
    ]);
  });
});

describe('the scope of a task', () => {
  const taskProblems = (task: string): string[] => problems(`${AGENTS}  a: { ${task} }\n`);

  test('and its limits are checked like those of an agent', () => {
    expect(taskProblems('run: x, scope: { write: [../x], network: ["*"] }, limits: { memory: 1 }')).toEqual([
      expect.stringContaining('"../x" in "scope.write" of task "a" holds ".."'),
      expect.stringContaining('"*" in "scope.network" of task "a" would be every host'),
      expect.stringContaining('"limits.memory" of task "a" must be at least 16MB'),
    ]);
    expect(taskProblems('agent: dev, prompt: x, scope: { write: [lib/**] }, limits: { cpu: 1 }')).toEqual([]);
  });

  test('belongs to work', () => {
    expect(taskProblems('approve: Well?, scope: { write: [] }, limits: { cpu: 1 }')).toEqual([
      expect.stringContaining('"scope" of task "a" works only with run, agent, handoff or race'),
      expect.stringContaining('"limits" of task "a" works only with run, agent, handoff or race'),
    ]);
  });

  test('replaces that of its agent field by field', () => {
    const agent = { scope: { write: ['src/**'], hide: ['.env'], env: { A: '1', B: '2' } } };
    const own = { write: [], env: { A: '3' } };
    expect(effectiveScope({ scope: own }, agent)).toEqual({ write: [], hide: ['.env'], env: { A: '3' } });
    expect(effectiveScope({ scope: own }, undefined)).toEqual(own);
    expect(effectiveScope({}, agent)).toBe(agent.scope);
    expect(effectiveScope({}, undefined)).toEqual({});
    expect(effectiveLimits({ limits: { cpu: 2 } }, { limits: { cpu: 1, memory: '1GB' } })).toEqual({
      cpu: 2,
      memory: '1GB',
    });
  });

  test('does not have to fit itself alone, but with that of its agent', () => {
    const workflow = (task: string): string =>
      `name: x\nagents:\n  dev: { runtime: cli, command: cat, scope: { write: [a/**], hide: [b/**] } }\ntasks:\n  a: { agent: dev, prompt: x, scope: { ${task} } }\n`;
    expect(problems(workflow('write: [b/c]'))).toEqual([
      expect.stringMatching(
        /^f:5:31: the scope of task "a", together with that of its agent: "b\/c" in "write" lies in what "b\/\*\*"/,
      ),
    ]);
    expect(problems(workflow('hide: [a]'))).toHaveLength(1);
    expect(problems(workflow('write: [b/c], hide: []'))).toEqual([]);
    expect(problems(workflow('network: [example.com]'))).toEqual([]);
  });

  test('says what it owns', () => {
    const source = {
      name: 'x',
      agents: { dev: { runtime: 'cli' as const, command: 'cat', scope: { write: ['src/**'] } } },
      tasks: {
        one: { agent: 'dev', prompt: 'x', scope: { write: ['src/one/**'] } },
        two: { agent: 'dev', prompt: 'x', scope: { write: ['src/two/**'] } },
        lint: { run: 'lint', scope: { write: [], shared: ['log.txt'] } },
        free: { run: 'x' },
      },
    };
    const found = ownership(filled(source));
    expect(found.owners.map(({ pattern, task, agent }) => `${pattern} ${task} ${agent}`)).toEqual([
      'src/one/** one dev',
      'src/two/** two dev',
      'log.txt lint run',
    ]);
    expect(found.overlaps).toEqual([]);
    const { overlaps } = ownership(
      filled({ ...source, tasks: { ...source.tasks, more: { run: 'x', scope: { write: ['src/one/a'] } } } }),
    );
    expect(overlaps).toMatchObject([{ a: 'one', b: 'more', path: ['tasks', 'more', 'scope'] }]);
  });
});

describe('the network of a workspace', () => {
  test('names hosts for setup, checked like those of a scope', () => {
    const inWorkspace = (options: string): string[] =>
      problems(`name: x\nworkspace: { ${options} }\ntasks: { a: { run: x, workspace: { ${options} } } }\n`);
    expect(inWorkspace('setup: npm ci, network: [registry.example.com]')).toEqual([]);
    expect(inWorkspace('setup: npm ci, network: ["https://example.com"]')).toEqual([
      expect.stringContaining('"https://example.com" in "workspace.network" begins with "https://"'),
      expect.stringContaining('in "workspace.network" of task "a" begins with'),
    ]);
    expect(inWorkspace('network: [example.com]')[0]).toContain('works only with "setup"');
  });
});

describe('the network of a scope', () => {
  const inNetwork = (entry: string): string[] =>
    scopeProblems(`scope: { network: [${JSON.stringify(entry)}] }`);

  test.each([
    'example.com',
    'Example.COM:8443',
    'localhost',
    '*.example.com',
    '*.example.com:443',
    '192.0.2.1',
    '192.0.2.1:80',
    '2001:db8::1',
    '[2001:db8::1]',
    '[2001:db8::1]:443',
    'xn--bcher-kva.example',
    'my_host',
  ])('may name %s', (entry) => {
    expect(inNetwork(entry)).toEqual([]);
  });

  test.each([
    ['https://example.com/x', 'write the host alone: example.com'],
    ['http://u:p@example.com:80', 'write the host alone: example.com:80'],
    ['example.com/path', 'write the host alone: example.com'],
    ['u@example.com', 'write the host alone: example.com'],
    ['*', 'every host'],
    ['*.*', '*.example.com'],
    ['a.*.com', '*.example.com'],
    ['*example.com', '*.example.com'],
    ['*.192.0.2.1', 'each address'],
    ['10.0.0.0/8', 'range of addresses'],
    ['example.com:0', 'from 1 to 65535'],
    ['example.com:65536', 'from 1 to 65535'],
    ['example.com:http', 'from 1 to 65535'],
    ['example.com:', 'ends in ":"'],
    ['example.com:*', 'remove ":*"'],
    [':443', 'no host'],
    ['a b', 'blank'],
    ['', 'is empty'],
    ['256.1.1.1', 'not an IPv4 address'],
    ['1.2.3', 'not an IPv4 address'],
    ['[example.com]:80', 'not an IPv6 address'],
    ['2001:db8::1::2', 'is written [2001:db8::1]:443'],
    ['fe80::1%eth0', 'zone'],
    ['example.com.', 'write example.com'],
    ['bücher.example', 'write xn--bcher-kva.example'],
    ['-a.com', 'not a host name'],
    ['a..com', 'not a host name'],
    [`${'a'.repeat(64)}.com`, 'not a host name'],
  ])('cannot name %j, and says what to write instead', (entry, message) => {
    expect(inNetwork(entry)).toEqual([expect.stringContaining(message)]);
  });
});

describe('a limit', () => {
  test.each([
    ['memory: 0', 'at least 16MB, but is 0'],
    ['memory: 512', 'but is 512 bytes; a unit is missing: 512MB?'],
    ['memory: 15MB', 'at least 16MB, but is 15MB'],
    ['memory: 17TB', 'at most 16TB'],
    ['disk: 0', 'at least 1MB'],
    ['disk: 2000TB', 'at most 1024TB'],
    ['processes: 0', 'more than 0'],
    ['processes: 4000001', 'at most 4000000'],
    ['cpu: 0.001', 'at least 0.01'],
    ['cpu: 1025', 'at most 1024'],
    ['files: 15', 'at least 16'],
    ['files: 2000000', 'at most 1048576'],
    ['minutes: 40000', 'at most 35000'],
  ])('of %s is refused', (limit, message) => {
    expect(scopeProblems(`limits: { ${limit} }`)).toEqual([expect.stringContaining(message)]);
  });

  test('that a machine can hold is taken', () => {
    const limits = 'memory: 16MB, disk: 1MB, processes: 1, cpu: 0.5, files: 16, minutes: 0.1, output: 0';
    expect(scopeProblems(`limits: { ${limits} }`)).toEqual([]);
    expect(scopeProblems('limits: { memory: 16TB, cpu: 1024, files: 1048576, minutes: 35000 }')).toEqual([]);
  });
});

describe('bosun check', () => {
  async function check(text: string): Promise<string> {
    const directory = await mkdtemp(path.join(tmpdir(), 'bosun-ownership-'));
    try {
      await writeFile(path.join(directory, 'bosun.yaml'), text);
      const { code, stdout, stderr } = await bosun(directory, 'check');
      expect(code, stderr).toBe(0);
      return stdout;
    } finally {
      await rm(directory, { recursive: true });
    }
  }

  test('shows which files belong to which tasks', async () => {
    const tasks =
      '  a: { agent: dev, prompt: x }\n  b: { agent: tester, prompt: x, needs: [a] }\n  c: { agent: dev, prompt: x, needs: [b] }\n';
    expect((await check(AGENTS + tasks)).split('files:\n')[1]).toBe(
      '  src/**     a (dev), c (dev)\n  test/**    a (dev), c (dev)\n  test/*.ts  b (tester)\n',
    );
  });

  test('names those who may write every file, where others own some', async () => {
    const tasks =
      '  a: { agent: dev, prompt: x }\n  b: { agent: free, prompt: x }\n  c: { run: x }\n  d: { run: x, workspace: none }\n  e: { run: x, scope: { write: [] } }\n';
    expect((await check(AGENTS + tasks)).split('files:\n')[1]).toBe(
      '  src/**    a (dev)\n  test/**   a (dev)\n  any file  b (free), c (run)\n',
    );
  });

  test('shows no files where no task declares a write scope', async () => {
    expect(await check(`${AGENTS}  a: { agent: free, prompt: x }\n`)).not.toContain('files:');
  });
});
