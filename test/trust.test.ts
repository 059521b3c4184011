/** What a workflow asks for beyond its repository: what counts as that, who has agreed to it, and who is refused. */
import {
  chmodSync,
  existsSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Bosun } from '../src/doors/library.ts';
import type { Workflow, WorkflowSource } from '../src/contract/workflow.ts';
import { workflow } from '../src/definition/builder.ts';
import { loadWorkflow } from '../src/definition/load.ts';
import { reachOf } from '../src/definition/reach.ts';
import { initialise } from '../src/operations/init.ts';
import { distrust, notTrusted, trust } from '../src/operations/trust.ts';
import type { LiveRun } from '../src/operations/run.ts';
import { RunQueue } from '../src/run/run-queue.ts';
import { addTrust, readTrust, removeTrust, trustedAt, trustFile } from '../src/store/trust-file.ts';
import { makeRepository, USER, type TestRepository } from './fixtures/repository.ts';

let directory: string;
beforeEach(() => {
  directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'bosun-trust-')));
  vi.stubEnv('BOSUN_TRUST', '');
  vi.stubEnv('XDG_STATE_HOME', path.join(directory, 'state'));
  vi.stubEnv('GIT_CONFIG_GLOBAL', path.join(directory, 'gitconfig'));
  writeFileSync(path.join(directory, 'gitconfig'), USER);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true });
});

const made = (source: Partial<WorkflowSource>): Workflow =>
  workflow({ name: 'x', tasks: { a: { run: 'true' } }, ...source });

describe('a workflow reaches beyond its repository', () => {
  const at = (name: string): string => path.join(directory, name);
  const reach = (source: Partial<WorkflowSource>): string[] => reachOf(made(source), directory);
  const reading = (...read: string[]): string[] => {
    const { tasks, ...rest } = made({});
    return reachOf({ ...rest, tasks: { a: { ...tasks.a!, scope: { read } } } }, directory);
  };

  it('with paths to read, whatever links lead there', () => {
    mkdirSync(at('sub'));
    mkdirSync(at('.git'));
    symlinkSync('/etc', at('sub/out'));
    symlinkSync('../inner', at('sub/in'));
    expect(reading('sub', 'sub/in', 'inner/file', at('sub'))).toEqual([]);
    expect(reading('sub/out', '/srv/data', '~/.config')).toEqual(
      ['read /etc', `read ${path.join(homedir(), '.config')}`, 'read /srv/data'].sort(),
    );
    expect(reading('.', '.git/config')).toEqual([
      `read ${directory}, all of this repository with its git directory`,
      `read ${at('.git/config')}`,
    ]);
    const spelled = ['.GIT/config', 'sub/.git', 'sub/.Git/config', 'git~1/config'];
    expect(reading(...spelled)).toEqual(spelled.map((file) => `read ${at(file)}`).sort());
  });

  it('with hosts, tool servers and programs of agents, also in the workflows that it uses', () => {
    const agents: WorkflowSource['agents'] = {
      searching: {
        mcp: { tickets: { command: 'node' }, search: { url: 'https://search.test/mcp' } },
        scope: { network: ['search.test'] },
      },
      acp: { runtime: 'acp', command: ['/srv/secrets/agent', '--acp'] },
      system: { runtime: 'acp', command: ['/usr/bin/agent'] },
      found: { runtime: 'acp', command: ['agent'] },
      plain: { runtime: 'cli', command: ['/srv/other'] },
    };
    const nested = { ...made({ workspace: { setup: 'npm ci', network: ['registry.test'] } }) };
    const whole: Workflow = { ...made({ agents }), nested: { 'part.yaml': nested } };
    expect(reachOf(whole, directory)).toEqual([
      'reach registry.test during setup',
      'reach search.test',
      'start /srv/secrets/agent',
      'use the tool server https://search.test/mcp',
    ]);
  });

  it('with nothing else: what stays inside asks for nothing', () => {
    const scope = { write: ['src/**'], hide: ['.env'], grant: ['docs/**'], env: { PATH: '/srv/secrets' } };
    expect(
      reach({ tasks: { a: { run: 'true', scope, workspace: { copy: ['node_modules'], setup: 'x' } } } }),
    ).toEqual([]);
  });
});

describe('what was agreed to', () => {
  const gitDirectory = (): string => path.join(directory, '.git');
  beforeEach(() => mkdirSync(gitDirectory()));

  it('is kept in a file that is the user’s alone, and added to', () => {
    expect(trustedAt(gitDirectory())).toBeUndefined();
    addTrust(gitDirectory(), { asked: ['reach b.test'] });
    addTrust(gitDirectory(), { asked: ['reach a.test', 'reach b.test'] });
    expect(trustedAt(gitDirectory())!.asked).toEqual(['reach a.test', 'reach b.test']);
    expect(statSync(trustFile()).mode & 0o777).toBe(0o600);
    expect(statSync(path.dirname(trustFile())).mode & 0o777).toBe(0o700);
    expect(removeTrust(gitDirectory())).toBe(true);
    expect(removeTrust(gitDirectory())).toBe(false);
    expect(trustedAt(gitDirectory())).toBeUndefined();
  });

  it('is not for another repository that is put at the same path', async () => {
    addTrust(gitDirectory(), { asked: [], everything: true });
    rmSync(gitDirectory(), { recursive: true });
    await sleep(20); // a file system may use a number again at once, and its clock is coarse
    mkdirSync(gitDirectory());
    expect(trustedAt(gitDirectory())).toBeUndefined();
    addTrust(gitDirectory(), { asked: ['reach a.test'] });
    expect(trustedAt(gitDirectory())).not.toHaveProperty('everything');
  });

  it('is not believed where the file is damaged, too large, a link, or open to others', () => {
    addTrust(gitDirectory(), { asked: [], everything: true });
    const file = trustFile();
    const read = () => readTrust();
    chmodSync(path.dirname(file), 0o755);
    chmodSync(file, 0o666);
    expect(read).toThrow('other users can change the file');
    for (const text of ['{', '[]', '{"version":1,"repositories":{"/":{}}}', ' '.repeat(5 * 1024 * 1024)]) {
      rmSync(file);
      writeFileSync(file, text, { mode: 0o600 });
      expect(read).toThrow('remove it, and trust them again with: bosun trust');
    }
    rmSync(file);
    writeFileSync(path.join(directory, 'planted'), '{"version":1,"repositories":{}}');
    symlinkSync(path.join(directory, 'planted'), file);
    expect(read).toThrow('is not a plain file');
    rmSync(file);
    chmodSync(path.dirname(file), 0o777);
    writeFileSync(file, '{"version":1,"repositories":{}}', { mode: 0o600 });
    expect(read).toThrow('other users can change the directory');
  });
});

describe('a run', () => {
  const asking = (...network: string[]): Workflow =>
    made({ tasks: { a: { run: 'true', scope: { network } } } });
  const refusal = (run: Promise<unknown>): Promise<string> =>
    run.then(
      () => 'it was started',
      (error: Error & { code?: string }) => `${error.code}: ${error.message}`,
    );

  it('that asks for more than was agreed to is refused, and names only what is new', async () => {
    await using repository = await makeRepository();
    const bosun = new Bosun(repository.path);
    expect(await refusal(bosun.run(asking('a.test', 'b.test')))).toBe(
      'not-trusted: nothing was started: library asks for more than this repository:\n- reach a.test\n- reach b.test\nIf you trust it, pass trust: true',
    );
    addTrust(path.join(repository.path, '.git'), { asked: ['reach a.test'] });
    expect(await refusal(bosun.run(asking('a.test', 'b.test')))).toContain('repository:\n- reach b.test\nIf');
    expect((await (await bosun.run(asking('a.test'))).finished).state).toBe('done');
    const evil = `${'b'.repeat(400)}\u001b[31m`;
    const odd = made({ agents: { x: { mcp: { s: { url: `https://x.test/${evil}` } } } } });
    const told = await refusal(bosun.run(odd));
    expect(told).not.toContain('\u001b');
    expect(told.length).toBeLessThan(600);
  });

  it('is the caller’s own word with trust: true, also when it is gone on with; that is not remembered', async () => {
    await using repository = await makeRepository();
    const bosun = new Bosun(repository.path);
    const failing = made({ tasks: { a: { run: 'exit 1', scope: { network: ['a.test'] } } } });
    await (
      await bosun.run(failing, { trust: true })
    ).finished;
    expect(await refusal(bosun.resume())).toContain('not-trusted: ');
    expect(await refusal(bosun.retry('a'))).toContain('not-trusted: ');
    expect((await (await bosun.resume(undefined, { trust: true })).finished).state).toBe('failed');
    expect(readTrust().size).toBe(0);
  });

  it('that waits in the queue brings its trust along from nobody but this user, and for itself alone', async () => {
    await using repository = await makeRepository();
    await using bosun = new Bosun(repository.path);
    const stateOf = async (id: string): Promise<string> => {
      await bosun.work();
      return (await bosun.status(id)).run.state;
    };
    const { id } = await bosun.queue(asking('a.test'), { trust: true });
    expect(await stateOf(id)).toBe('done');
    const created = async (run: string) => {
      for await (const [first] of bosun.events(run))
        if (first?.event.type === 'run.created') return first.event;
      throw new Error('it has no beginning');
    };
    const trusted = (await created(id)).queued!.trusted!;
    await using queue = new RunQueue(repository.path);
    const ran = path.join(directory, 'ran');
    const hooks = [{ on: 'run-ended' as const, command: `echo >> ${ran}` }];
    const hooked = made({ hooks, tasks: { a: { run: 'true' } } });
    // As journals of earlier versions say it, as an archive brings it, and as another run had it.
    for (const word of [true, 'x', '0'.repeat(64), trusted] as const) {
      const queued = { by: 'mallory', trusted: word };
      const run = { workflow: hooked, source: 'x.yaml', inputs: {}, dirty: false, queued };
      expect(await stateOf((await queue.add(run)).id)).toBe('cancelled');
      const { id: waiting } = await queue.add(run);
      await bosun.cancel(waiting);
    }
    expect(existsSync(ran)).toBe(false);
    expect(await stateOf((await bosun.queue(hooked, { trust: true })).id)).toBe('done');
    expect(existsSync(ran)).toBe(true);
    const { id: elsewhere } = await bosun.queue(asking('a.test'), { trust: true });
    vi.stubEnv('XDG_STATE_HOME', path.join(directory, 'another-user'));
    expect(await stateOf(elsewhere)).toBe('pending'); // it is not even begun
    expect(await refusal(bosun.resume(elsewhere))).toContain('not-trusted: ');
  });

  it('that stays inside asks for nothing, even where trust cannot be read', async () => {
    await using repository = await makeRepository();
    mkdirSync(path.dirname(trustFile()), { recursive: true });
    writeFileSync(trustFile(), 'damaged');
    const inside = made({ tasks: { a: { run: 'echo x > x', scope: { write: ['x'] } } } });
    expect((await (await new Bosun(repository.path).run(inside)).finished).state).toBe('done');
    expect(await refusal(new Bosun(repository.path).run(asking('a.test')))).toContain('system: cannot read');
  });

  it('of whoever began a repository with bosun init asks for nothing; one that was there already stays a stranger’s', async () => {
    await using own = await makeRepository({ empty: true, files: {} });
    expect(await initialise({ cwd: own.path })).toMatchObject({ written: true, trusted: true });
    await own.commit('First', {});
    expect((await (await new Bosun(own.path).run(asking('a.test'))).finished).state).toBe('done');
    await using theirs = await makeRepository({ files: { 'bosun.yaml': 'name: x\n' } });
    expect(await initialise({ cwd: theirs.path })).toMatchObject({ written: false, trusted: false });
    expect(await refusal(new Bosun(theirs.path).run(asking('a.test')))).toContain('not-trusted');
  });

  it('is trusted by bosun init in a repository of one’s own, and not where a remote or others may have brought it', async () => {
    await using own = await makeRepository();
    expect(await initialise({ cwd: own.path })).toMatchObject({ written: true, trusted: true });
    removeTrust(path.join(own.path, '.git'));
    // every commit bears the user's own address, which anybody can write
    await using cloned = await makeRepository();
    await cloned.git('remote', 'add', 'origin', 'https://example.com/x.git');
    const amend = ['commit', '-q', '--amend', '--author=x <someone@example.com>', '-m', 'Start'];
    await using others = await makeRepository();
    await others.git(...amend);
    // an archive brings its settings along: whose commits are the user's is not for them to say
    await using unpacked = await makeRepository();
    await unpacked.git(...amend);
    await unpacked.git('config', 'user.email', 'someone@example.com');
    await using begun = await makeRepository({ empty: true, files: {} });
    await begun.git('remote', 'add', 'origin', 'https://example.com/x.git');
    for (const { path: cwd } of [cloned, others, unpacked, begun]) {
      expect(await initialise({ cwd })).toMatchObject({ written: true, trusted: false });
      expect(readTrust().size).toBe(0);
    }
    expect(await refusal(new Bosun(cloned.path).run(asking('a.test')))).toContain('not-trusted');
    // what init wrote stays inside, so that nobody is asked
    const { workflow: first } = await loadWorkflow(path.join(cloned.path, 'bosun.yaml'));
    expect(reachOf(first, cloned.path)).toEqual([]);
    expect((await (await new Bosun(cloned.path).run(first, { dirty: true })).finished).state).toBe('done');
  });

  it('that bosun init trusted is a stranger’s once it has a remote, or has fetched, and not if everything is trusted', async () => {
    const ways: ((repository: TestRepository) => Promise<unknown> | void)[] = [
      (own) => own.git('remote', 'add', 'origin', 'https://example.com/x.git'),
      (own) => own.git('config', 'include.path', 'elsewhere'),
      (own) => writeFileSync(path.join(own.path, '.git/FETCH_HEAD'), ''),
    ];
    for (const comes of ways) {
      await using own = await makeRepository();
      expect(await initialise({ cwd: own.path })).toMatchObject({ written: true, trusted: true });
      const run = (): Promise<LiveRun> => new Bosun(own.path).run(asking('a.test'));
      expect((await (await run()).finished).state).toBe('done');
      await comes(own);
      expect(await refusal(run())).toBe(
        'not-trusted: nothing was started: library asks for more than this repository:\n- reach a.test\n' +
          'bosun init trusted this repository while it had no remote, which it has by now.\n' +
          'If you trust it, pass trust: true',
      );
      trust({ cwd: own.path, everything: true });
      expect((await (await run()).finished).state).toBe('done');
    }
  });

  it('shows nothing of the machine for the PATH that it sets itself', async () => {
    await using repository = await makeRepository();
    const secrets = path.join(directory, 'secrets');
    mkdirSync(secrets, { mode: 0o755 });
    writeFileSync(path.join(secrets, 'token'), 'hunter2', { mode: 0o644 });
    for (const each of [directory, secrets]) chmodSync(each, 0o755);
    const env = { PATH: `/usr/bin:/bin:${secrets}` };
    const spying = made({
      tasks: {
        a: { run: `ls ${secrets} && exit 1; true`, scope: { env } },
        b: { run: `ls ${secrets} && exit 1; true`, env },
      },
    });
    expect((await (await new Bosun(repository.path).run(spying)).finished).state).toBe('done');
  });
});

describe('the trust of a repository', () => {
  const TRUSTED = { asked: [], everything: true };
  const ASKED = ['reach a.test'];

  it('is that of its linked work trees, too', async () => {
    await using mine = await makeRepository();
    const linked = `${mine.path}-linked`;
    await mine.git('worktree', 'add', '--quiet', linked);
    addTrust(path.join(mine.path, '.git'), TRUSTED);
    expect([mine.path, linked].map((at) => notTrusted(at, ASKED))).toEqual([[], []]);
    const moved = `${mine.path}-moved`;
    cpSync(linked, moved, { recursive: true });
    expect(notTrusted(moved, ASKED), 'a copy that it does not know').toEqual(ASKED);
  });

  it.each(['commondir', 'gitdir', 'gitdir of a work tree', 'link'])(
    'is not borrowed by another one whose %s names it',
    async (how) => {
      await using mine = await makeRepository();
      await mine.git('worktree', 'add', '--quiet', `${mine.path}-linked`);
      const git = path.join(mine.path, '.git');
      addTrust(git, TRUSTED);
      const evil = `${mine.path}-evil`;
      mkdirSync(evil);
      const dotGit = path.join(evil, '.git');
      if (how === 'link') symlinkSync(git, dotGit);
      else if (how === 'commondir') {
        for (const name of ['objects', 'refs']) mkdirSync(path.join(dotGit, name), { recursive: true });
        writeFileSync(path.join(dotGit, 'HEAD'), 'ref: refs/heads/main\n');
        writeFileSync(path.join(dotGit, 'commondir'), git);
      } else {
        const [name] = readdirSync(path.join(git, 'worktrees'));
        const target = how === 'gitdir' ? git : path.join(git, 'worktrees', name!);
        writeFileSync(dotGit, `gitdir: ${target}\n`);
      }
      expect(notTrusted(evil, ASKED)).toEqual(ASKED);
      expect(await initialise({ cwd: evil })).toMatchObject({ trusted: false });
      expect(notTrusted(evil, ASKED)).toEqual(ASKED);
      // it has one of its own
      expect(trust({ cwd: evil, asked: ASKED })).toEqual({ directory: evil });
      expect(notTrusted(evil, [...ASKED, 'reach b.test'])).toEqual(['reach b.test']);
      expect(distrust({ cwd: evil })).toEqual({ directory: evil });
      expect(notTrusted(mine.path, ASKED)).toEqual([]);
    },
  );

  it.runIf(process.getuid?.() === 0)('does not count where it belongs to somebody else', async () => {
    await using mine = await makeRepository();
    const git = path.join(mine.path, '.git');
    addTrust(git, TRUSTED);
    for (const file of [mine.path, git]) {
      chownSync(file, 12_345, 12_345);
      expect(notTrusted(mine.path, ASKED)).toEqual(ASKED);
      expect(() => trust({ cwd: mine.path, asked: ASKED })).toThrow(
        `cannot be trusted: ${file} belongs to user 12345, and bosun runs as root; use --trust`,
      );
      chownSync(file, 0, 0);
    }
    expect(notTrusted(mine.path, ASKED)).toEqual([]);
  });
});
