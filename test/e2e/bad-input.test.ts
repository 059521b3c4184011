import { execFile } from 'node:child_process';
import { appendFile, chmod, mkdir, readFile, readlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { EventOf } from '../../src/contract/event.ts';
import { bosun, BOSUN, eventsIn, start, startProgram, type Finished } from '../fixtures/cli.ts';
import { makeRepository, type TestRepository } from '../fixtures/repository.ts';

const exec = promisify(execFile);

/** A repository whose workflow has one task with this command. */
async function withCommand(
  run: string,
  more: { name?: string; files?: Record<string, string | Buffer>; extra?: string } = {},
): Promise<TestRepository> {
  const workflow = `name: one\ntasks:\n  work:\n    run: ${JSON.stringify(run)}\n${more.extra ?? ''}`;
  return makeRepository({
    files: { 'README.md': 'hello\n', 'bosun.yaml': workflow, ...more.files },
    ...(more.name !== undefined && { name: more.name }),
  });
}

function finishedIn(result: Finished): EventOf<'attempt.finished'> {
  const event = eventsIn(result.stdout).find((one) => one.type === 'attempt.finished');
  expect(event, result.stderr).toBeDefined();
  return event as EventOf<'attempt.finished'>;
}

async function refuses(cwd: string, message: RegExp, code = 2): Promise<void> {
  const result = await bosun(cwd, 'run');
  expect(result.stderr).toMatch(message);
  expect([result.code, result.stdout]).toEqual([code, '']);
}

describe('where bosun is started', () => {
  it('no git repository, no commit, a bare one: one clear line each', async () => {
    await using repository = await makeRepository({
      files: { 'bosun.yaml': 'name: x\ntasks: { a: { run: "true" } }\n' },
    });
    const outside = path.join(repository.path, '..', 'outside');
    await mkdir(outside);
    await writeFile(path.join(outside, 'bosun.yaml'), 'name: x\ntasks: { a: { run: "true" } }\n');
    await refuses(outside, /is not inside a git repository: run bosun in one, or make one/);
    await exec('git', ['init', '--quiet', outside]);
    await refuses(outside, /no commit yet.*git commit/s);
    const bare = path.join(repository.path, '..', 'bare.git');
    await exec('git', ['clone', '--quiet', '--bare', repository.path, bare]);
    await writeFile(path.join(bare, 'bosun.yaml'), 'name: x\ntasks: { a: { run: "true" } }\n');
    await refuses(bare, /bare repository.*clone/s);
  });

  it('a path with spaces, colons, commas and letters of all kinds', async () => {
    await using repository = await withCommand('echo x > "ü ,:ß.txt"', { name: 'a b:c,d "ü" 日本' });
    expect((await bosun(repository.path, 'run')).code).toBe(0);
    expect((await bosun(repository.path, 'merge')).code).toBe(0);
    expect(await readFile(path.join(repository.path, 'ü ,:ß.txt'), 'utf8')).toBe('x\n');
  });

  it('a subdirectory, a linked work tree and a shallow clone', async () => {
    await using repository = await withCommand('git log --oneline > log.txt');
    await repository.git('commit', '--quiet', '--allow-empty', '-m', 'Second');
    await mkdir(path.join(repository.path, 'sub'));
    expect((await bosun(path.join(repository.path, 'sub'), 'run', '../bosun.yaml')).code).toBe(0);
    const linked = path.join(repository.path, '..', 'linked');
    await repository.git('worktree', 'add', '--quiet', '--detach', linked);
    expect((await bosun(linked, 'run')).code).toBe(0);
    const shallow = path.join(repository.path, '..', 'shallow');
    await exec('git', ['clone', '--quiet', '--depth=1', `file://${repository.path}`, shallow]);
    const result = await bosun(shallow, 'run', '--json');
    expect([result.code, finishedIn(result).collected?.changedCount]).toEqual([0, 1]);
  });

  it('a submodule stays as it is, and is said to be empty', async () => {
    await using inner = await makeRepository();
    await using repository = await withCommand('ls -A sub | wc -l > count.txt');
    await repository.git(
      '-c',
      'protocol.file.allow=always',
      'submodule',
      '--quiet',
      'add',
      inner.path,
      'sub',
    );
    await repository.git('commit', '--quiet', '-m', 'Submodule');
    const result = await bosun(repository.path, 'run');
    expect(result.stderr).toMatch(/submodules are empty/);
    expect((await bosun(repository.path, 'diff', '--stat')).stdout).not.toContain('sub |');
    expect((await bosun(repository.path, 'merge')).code).toBe(0);
    expect(await readFile(path.join(repository.path, 'sub', 'README.md'), 'utf8')).toBe('hello\n');
  });

  it('uncommitted changes: the run works from the last commit and says so; --dirty includes them', async () => {
    await using repository = await withCommand('cat README.md new.txt > seen.txt; true');
    await repository.write({ 'bosun.yml': '# read as it is\n', '.bosun/agents/a.md': '---\n---\n' });
    expect((await bosun(repository.path, 'exec', '--', 'true')).stderr).not.toContain('not committed');
    await repository.write({ 'README.md': 'changed\n', 'new.txt': 'new\n' });
    const clean = await bosun(repository.path, 'run');
    expect(clean.stderr).toContain(
      'not committed, so the run does not have it: README.md, new.txt (it works from the last commit; --dirty includes them)',
    );
    expect((await bosun(repository.path, 'diff')).stdout).toContain('+hello');
    const before = await repository.git('status', '--porcelain');
    expect((await bosun(repository.path, 'run', '--dirty')).code).toBe(0);
    expect((await bosun(repository.path, 'diff')).stdout).toContain('+changed\n+new');
    expect(await repository.git('status', '--porcelain')).toBe(before);
    const merge = await bosun(repository.path, 'merge');
    expect([merge.code, merge.stderr]).toEqual([2, expect.stringMatching(/not committed.*commit or stash/s)]);
    expect(await readFile(path.join(repository.path, 'README.md'), 'utf8')).toBe('changed\n');
  });

  it('a directory that cannot be written', async () => {
    await using repository = await withCommand('true');
    // A file where the directory must be stops root, too.
    await writeFile(path.join(repository.path, '.git/bosun'), '');
    await refuses(repository.path, /\.git\/bosun must be a directory.*move it away/s, 1);
  });

  it('a path with a line break or with bytes that are not UTF-8, of the repository or of the home directory', async () => {
    await using lines = await makeRepository({ name: 'two\nlines' });
    for (const args of [['run'], ['status'], ['check'], ['exec', '--', 'true'], ['doctor']]) {
      const { code, stderr } = await bosun(lines.path, ...args);
      expect([code, stderr]).toEqual([
        2,
        expect.stringMatching(
          /^bosun: the path of this directory holds a line break: .*; rename it, or move the repository\n$/,
        ),
      ]);
    }
    await using repository = await withCommand('true');
    const script = String.raw`cd "$1" && d=$(printf 'not\377utf') && git clone -q . "$d" && cd "$d" && "$0" status; cd "$1" && HOME=$(printf 'a\377') "$0" status`;
    const { stderr } = await startProgram(['sh', '-c', script, BOSUN, repository.path], '/').finished;
    expect(stderr).toMatch(
      /^bosun: the path of this directory holds bytes that are not UTF-8: .*\nbosun: the path of your home directory \(HOME\) holds bytes that are not UTF-8: .*; set HOME to another one\n$/,
    );
  });

  it('an old Node on the PATH does not matter to a checkout', async () => {
    await using repository = await withCommand('true');
    const old = path.join(repository.path, '..', 'node');
    await writeFile(old, '#!/bin/sh\necho v18.0.0\n');
    await chmod(old, 0o755);
    const result = await startProgram([BOSUN, '--version'], repository.path, {
      PATH: `${path.dirname(old)}:/usr/bin:/bin`,
    }).finished;
    expect([result.code, result.stdout]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)]);
  });
});

describe('what an agent may do', () => {
  it('names with newlines, binary files, modes and links arrive as they are', async () => {
    const script = String.raw`printf x > "$(printf 'new\nline')"; printf '\000\377' > bin; chmod +x README.md; ln -s README.md link; rm gone; mkdir -p deep/er; echo d > deep/er/file`;
    await using repository = await withCommand(script, { files: { gone: 'x' } });
    const run = await bosun(repository.path, 'run', '--json');
    expect(run.code, run.stderr).toBe(0);
    expect((await bosun(repository.path, 'merge')).code).toBe(0);
    expect(await readFile(path.join(repository.path, 'new\nline'), 'utf8')).toBe('x');
    expect([...(await readFile(path.join(repository.path, 'bin')))]).toEqual([0, 255]);
    expect(await readlink(path.join(repository.path, 'link'))).toBe('README.md');
    const tree = await repository.git('ls-tree', '-r', 'HEAD');
    expect(tree).toMatch(/100755 blob \S+\tREADME\.md/);
    expect(tree).not.toContain('gone');
  });

  it('a file of 100 MB', { timeout: 120_000 }, async () => {
    await using repository = await withCommand('head -c 100000000 /dev/zero | tr "\\0" x > big.txt');
    const result = await bosun(repository.path, 'run', '--json');
    expect([result.code, finishedIn(result).collected?.changed]).toEqual([
      0,
      [{ path: 'big.txt', change: 'added' }],
    ]);
    expect(
      await repository.git(
        '--git-dir=.git/bosun/git',
        'cat-file',
        '-s',
        `${finishedIn(result).collected!.commit}:big.txt`,
      ),
    ).toBe('100000000');
  });

  it('a line of a megabyte, and bytes that are no UTF-8', async () => {
    await using repository = await withCommand(
      String.raw`head -c 1000000 /dev/zero | tr "\0" y; printf "\377\376\n"`,
    );
    const result = await bosun(repository.path, 'run', '--json');
    const pieces = eventsIn(result.stdout).filter((event) => event.type === 'attempt.output');
    const bytes = pieces.map(({ text, base64 }) =>
      text === undefined ? Buffer.from(base64!, 'base64') : Buffer.from(text),
    );
    const whole = Buffer.concat(bytes);
    expect([whole.length, [...whole.subarray(-3)]]).toEqual([1_000_003, [255, 254, 10]]);
    const logs = await bosun(repository.path, 'logs');
    expect([logs.code, logs.stdout.length]).toEqual([0, expect.any(Number)]);
  });

  it('an exit code of 0 with nothing done is done, with nothing', async () => {
    await using repository = await withCommand('true');
    const result = await bosun(repository.path, 'run', '--json');
    expect([result.code, finishedIn(result)]).toMatchObject([
      0,
      { outcome: { kind: 'done' }, output: null, collected: { changedCount: 0 } },
    ]);
    expect((await bosun(repository.path, 'merge')).stderr).toMatch(/nothing/);
  });

  it('printing for ever ends with its time-out; the beginning and the end are kept', async () => {
    const workflow = `name: x\nagents: { a: { runtime: cli, command: 'echo first; yes', limits: { output: 200KB } } }\ntasks: { work: { agent: a, prompt: p, timeout: 1s } }\n`;
    await using repository = await makeRepository({ files: { 'bosun.yaml': workflow } });
    const result = await bosun(repository.path, 'run', '--json');
    expect([result.code, finishedIn(result).outcome]).toMatchObject([
      1,
      { kind: 'failed', reason: 'timeout' },
    ]);
    const pieces = eventsIn(result.stdout)
      .filter((event) => event.type === 'attempt.output')
      .filter(({ stream }) => stream === 'stdout');
    expect(pieces[0]!.text).toMatch(/^first\ny\n/);
    expect(pieces.at(-1)).toMatchObject({
      text: expect.stringMatching(/y\n$/),
      droppedBytes: expect.any(Number),
    });
    expect(pieces.at(-1)!.droppedBytes).toBeGreaterThan(1_000_000);
    expect(result.stdout.length).toBeLessThan(1024 * 1024);
  });

  it('a process that it leaves behind is gone when it ends', async () => {
    await using repository = await withCommand(
      '(setsid sleep 987.654 >/dev/null 2>&1 &) ; (trap "" TERM HUP INT; sleep 987.655) & echo forked',
    );
    expect((await bosun(repository.path, 'run')).code).toBe(0);
    const { stdout } = await exec('ps', ['-eo', 'args']);
    expect(stdout.split('\n').filter((line) => line.startsWith('sleep 987.65'))).toEqual([]);
  });

  it('a value that no process can be started with fails its task, nothing else', async () => {
    const workflow = `name: x
on-failure: continue
tasks:
  a: { run: 'printf %s "\\"a\\\\u0000b\\"" > $BOSUN_OUTPUT', output: { type: string } }
  bad: { needs: [a], run: 'echo "\${{ tasks.a.output }}"' }
  good: { run: 'echo x > x.txt' }
`;
    await using repository = await makeRepository({ files: { 'bosun.yaml': workflow } });
    const result = await bosun(repository.path, 'run');
    expect([result.code, result.stderr]).toEqual([1, expect.stringMatching(/bad +failed/)]);
    expect(result.stdout).toMatch(/bad +expression failed: BOSUN_VALUE_1 would hold a NUL character/);
    expect((await bosun(repository.path, 'diff', '--stat')).stdout).toContain('x.txt');
  });

  it('its values never become commands', async () => {
    const evil = '$(touch pwned); `touch pwned`; "; touch pwned; echo "';
    const workflow = `name: x\ntasks:\n  bad: { run: ${JSON.stringify(`printf '%s' '${evil}' > $BOSUN_OUTPUT`)} }\n  next: { needs: [bad], run: 'echo "\${{ tasks.bad.output }}" > said.txt' }\n`;
    await using repository = await makeRepository({ files: { 'bosun.yaml': workflow } });
    expect((await bosun(repository.path, 'run')).code).toBe(0);
    expect((await bosun(repository.path, 'diff', '--stat')).stdout).not.toContain('pwned');
    expect((await bosun(repository.path, 'diff')).stdout).toContain(`+${evil}`);
  });

  it('an expression that fails at run time fails its task and says why', async () => {
    const workflow = `name: x\ntasks:\n  a: { run: 'echo "{}" > $BOSUN_OUTPUT' }\n  b: { needs: [a], run: 'echo "\${{ tasks.a.output.missing.deeper }}"' }\n`;
    await using repository = await makeRepository({ files: { 'bosun.yaml': workflow } });
    const result = await bosun(repository.path, 'run');
    expect([result.code, result.stderr + result.stdout]).toEqual([1, expect.stringMatching(/missing/)]);
  });
});

describe('what a machine may do', () => {
  it('two engines on one run: the second says who is there and changes nothing', async () => {
    await using repository = await withCommand('echo begun; sleep 600');
    const first = start(repository.path, 'run', '--json');
    await first.prints('begun');
    const second = await bosun(repository.path, 'resume', 'one-1');
    expect(second.code).toBe(2);
    expect(second.stderr).toMatch(
      /another bosun \(process \d+\) is at work on run one-1.*bosun cancel one-1/s,
    );
    expect((await bosun(repository.path, 'status')).stdout).toContain('running');
    expect((await bosun(repository.path, 'cancel', '--now')).code).toBe(0);
    expect((await first.finished).code).toBe(3);
  });

  it('a damaged journal, and one of a newer bosun', async () => {
    await using repository = await withCommand('true');
    expect((await bosun(repository.path, 'run')).code).toBe(0);
    const journal = path.join(repository.path, '.git/bosun/journal.db');
    const db = new DatabaseSync(journal);
    db.exec('PRAGMA wal_checkpoint(TRUNCATE); PRAGMA user_version = 999');
    db.close();
    await refuses(repository.path, /newer bosun/, 1);
    await writeFile(journal, 'garbage '.repeat(1000));
    await refuses(repository.path, /damaged.*aside/s, 1);
    expect(await readFile(journal, 'utf8')).toMatch(/^garbage/);
  });

  it('no namespaces, as in many containers: it works on full copies and says so', async () => {
    await using repository = await withCommand('echo x > x.txt; (setsid sleep 987.656 &) ; true');
    const script = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$BOSUN" run';
    const result = await startProgram(['unshare', '-Ur', 'sh', '-c', script], repository.path, { BOSUN })
      .finished;
    expect([result.code, result.stdout]).toEqual([
      0,
      expect.stringMatching(/NOT FENCED: user namespaces are turned off/),
    ]);
    expect((await bosun(repository.path, 'merge')).code).toBe(0);
    expect(await readFile(path.join(repository.path, 'x.txt'), 'utf8')).toBe('x\n');
    const { stdout } = await exec('ps', ['-eo', 'args']);
    expect(stdout.split('\n').filter((line) => line.startsWith('sleep 987.656'))).toEqual([]);
  });

  it('a clock that jumps', async () => {
    await using repository = await withCommand('sleep 0.2; echo x > x.txt', {
      extra: '    timeout: 30s\n    retry: { attempts: 2, backoff: 10ms }\n',
    });
    const clock = path.resolve('test/fixtures/jumping-clock.ts');
    const result = await startProgram([BOSUN, 'run', '--json'], repository.path, {
      NODE_OPTIONS: `--import=${clock}`,
    }).finished;
    expect([result.code, finishedIn(result).outcome]).toEqual([0, { kind: 'done' }]);
    expect(finishedIn(result).durationMs).toBeLessThan(25_000);
    expect((await bosun(repository.path, 'status')).code).toBe(0);
  });

  it('a full disk: says so, and goes on from there once there is space', { timeout: 120_000 }, async () => {
    await using repository = await withCommand('true');
    const disk = path.join(repository.path, '..', 'disk');
    await mkdir(disk);
    // A small disk of its own, which only this shell and what it starts can see.
    const script = `
      mount -t tmpfs -o size=16m tmpfs "$DISK" && cd "$DISK" && git clone --quiet "$REPO" r && cd r || exit 90
      printf 'name: fill\\ntasks:\\n  first: { run: "echo 1 > one.txt" }\\n  fill: { needs: [first], run: "cat /dev/zero > filler 2>/dev/null; echo full" }\\n  last: { needs: [fill], run: "echo 3 > three.txt" }\\n' > bosun.yaml
      "$BOSUN" run; echo "first exit $?"
      rm -f ../ballast; "$BOSUN" status; echo "status exit $?"
      "$BOSUN" workspaces clean; "$BOSUN" diff --task first; echo "diff exit $?"`;
    const result = await startProgram(['unshare', '-Urm', 'sh', '-c', script], repository.path, {
      DISK: disk,
      REPO: repository.path,
      BOSUN,
    }).finished;
    expect(result.stderr + result.stdout).toMatch(/space|disk|full/i);
    expect(result.stdout).toMatch(/first exit 1/);
    expect(result.stdout).toMatch(/status exit 0/);
    expect(result.stdout).toMatch(/\+1\n[^]*diff exit 0/);
  });
});

describe('workflow files', () => {
  it('bombs, duplicate keys, cycles and unknown fields are told with their place, and nothing is started', async () => {
    await using repository = await makeRepository();
    const tell = async (text: string, message: RegExp): Promise<void> => {
      await writeFile(path.join(repository.path, 'w.yaml'), text);
      const result = await bosun(repository.path, 'run', 'w.yaml');
      expect(result.stderr).toMatch(message);
      expect(result.code).toBe(2);
    };
    const bomb = [
      'a: &a [x, x, x, x, x, x, x, x, x]',
      ...'bcdefghi'.split('').map((c, n) => `${c}: &${c} [${Array(9).fill(`*${'abcdefgh'[n]}`).join(', ')}]`),
    ].join('\n');
    await tell(bomb, /w\.yaml:\d+:\d+: .*alias/i);
    await tell('name: x\nname: y\ntasks: { a: { run: "true" } }\n', /w\.yaml:2:1: .*name/);
    await tell(
      'name: x\ntasks:\n  a: { needs: [b], run: "true" }\n  b: { needs: [a], run: "true" }\n',
      /a → b → a|b → a → b/,
    );
    await tell('name: x\ntasks:\n  a: { rnu: "true" }\n', /w\.yaml:3:8: .*rnu.*did you mean "run"/s);
  });

  it('ten thousand tasks are checked, and one of them is found by name', { timeout: 60_000 }, async () => {
    await using repository = await makeRepository();
    const file = path.join(repository.path, 'many.yaml');
    await writeFile(file, 'name: many\ntasks:\n');
    await appendFile(
      file,
      Array.from(
        { length: 10_000 },
        (_, n) => `  t${n}: { ${n > 0 ? `needs: [t${n - 1}], ` : ''}run: "true" }\n`,
      ).join(''),
    );
    const ok = await bosun(repository.path, 'check', 'many.yaml');
    expect([ok.code, ok.stdout + ok.stderr]).toEqual([0, expect.stringMatching(/10,?000 tasks/)]);
    await appendFile(file, '  late: { needs: [t99999], run: "true" }\n');
    const wrong = await bosun(repository.path, 'check', 'many.yaml');
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringMatching(/many\.yaml:10003:.*t99999/s)]);
  });
});
