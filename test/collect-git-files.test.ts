/** What git itself would obey, refuse or be busy with is kept out of results, and the report says so. */
import { describe, expect, test } from 'vitest';
import { attemptRef, collect } from '../src/collect/collect.ts';
import type { VetScope } from '../src/collect/vet.ts';
import { openWorkspaces } from '../src/workspace/open.ts';
import { makeEngine, shell, type TestEngine } from './fixtures/engine.ts';

interface Left {
  changed: string[];
  refused: string[];
  outside: string[];
}

let attempts = 0;

async function left(engine: TestEngine, command: string, scope: VetScope = {}): Promise<Left> {
  const workspaces = openWorkspaces(engine.git, engine.sandbox);
  const workspace = await workspaces.create(await workspaces.base(engine.head), `task${++attempts}`);
  await shell(engine.sandbox.launcher, workspace, command);
  const { changed, refused, outside } = await collect({
    git: engine.git,
    changes: await workspace.changes(),
    scope,
    parent: engine.head,
    ref: attemptRef('run', 'task', attempts),
    message: 'What it did\n',
    atMs: 1_700_000_000_000,
  });
  const files = outside?.files.map(({ path, why }) => `${path}: ${why}`) ?? [];
  return { changed: changed.map(({ path }) => path), refused, outside: files };
}

const BARE = (directory: string): string =>
  `mkdir -p ${directory}/objects ${directory}/refs; cd ${directory}; echo x > objects/x; echo x > refs/x; printf '[core]\n\tfsmonitor = touch /tmp/run\n' > config;`;

test('a bare repository in a result has no HEAD, unless the base has it or a person named it', async () => {
  await using engine = await makeEngine({
    files: { 'old/r.git/HEAD': 'ref: refs/heads/main\n', 'old/HEAD': 'Headlines\n', 'notes/HEAD': 'Héad\n' },
  });
  const why = (directory: string): string =>
    `makes a git repository of its directory, whose settings git would obey there; "scope.write" of the workflow has to name it (${directory})`;
  const made = await left(engine, `${BARE('new/r')} echo 'ref: refs/heads/main' > HEAD`);
  expect(made.changed).toEqual(['new/r/config', 'new/r/objects/x', 'new/r/refs/x']);
  expect(made.outside).toEqual([`new/r/HEAD: ${why('new/r/**')}`]);
  const others = 'ln -s refs/heads/main new/head; echo 0123456789012345678901234567890123456789 > old/HEAD';
  expect((await left(engine, `mkdir new; ${others}`)).outside).toEqual([
    `new/head: ${why('new/**')}`,
    `old/HEAD: ${why('old/**')}`,
  ]);
  // git writes such a one as plain letters where a .gitattributes has working-tree-encoding=ASCII//TRANSLIT, or IBM037
  const encoded = `printf '\\357\\275\\222ef: refs/heads/main\\n' > HEAD`;
  expect((await left(engine, `${BARE('new/e')} ${encoded}`)).outside).toEqual([
    `new/e/HEAD: ${why('new/e/**')}`,
  ]);
  const harmless = `mkdir bin docs; printf '\\177ELF\\200\\377\\303\\251' > bin/head; printf 'Héadlines' > notes/HEAD; echo Headlines > docs/HEAD`;
  expect((await left(engine, harmless)).outside).toEqual([]);
  const allowed = `echo 'ref: refs/heads/x' > old/r.git/HEAD; mkdir a; echo News > a/HEAD; ${BARE('b/r')} echo ref:refs/x > HEAD`;
  const unnamed = await left(engine, allowed, { write: ['**', 'b/r/**'], named: ['**'] });
  expect(unnamed.outside).toEqual([`b/r/HEAD: ${why('b/r/**')}`]);
  const named = await left(engine, allowed, { write: ['**'], named: ['b/r/**'] });
  expect(named.outside).toEqual([]);
  expect(named.changed).toContain('b/r/HEAD');
});

describe('a .gitmodules', () => {
  test('that git refuses to push or fetch is left out and kept, and the message says why', async () => {
    await using engine = await makeEngine();
    const written = (name: string, ...lines: string[]): string =>
      `printf '%s\\n' '[submodule "${name}"]' ${lines.map((line) => `'${line}'`).join(' ')}`;
    const refusals: [string, string][] = [
      [written('../../hooks', 'path = x'), 'a submodule may not be called "../../hooks"'],
      [written('a', 'url = --upload-pack=x'), '"url = --upload-pack=x" would be taken for an option'],
      [written('a', 'path = -x'), '"path = -x" would be taken for an option'],
      [written('a', 'update = !touch x'), '"update = !touch x" would run a command'],
      [written('a', 'url = https:///x'), '"url = https:///x" is not a safe address'],
      // dots stand in keys, names and values alike
      [written('a.b/..', 'url = c.d'), 'a submodule may not be called "a.b/.."'],
      [written('a', 'url = -u./pay.load'), '"url = -u./pay.load" would be taken for an option'],
      [written('a.b', 'path = -x.y'), '"path = -x.y" would be taken for an option'],
      [written('a', 'update = !sh ./x.sh'), '"update = !sh ./x.sh" would run a command'],
      [written('a', 'url = http:evil.test/x.git'), '"url = http:evil.test/x.git" is not a safe address'],
      [written('a', 'url = "x.y\\nz.git"'), '"url = x.y\nz.git" is not a safe address'],
    ];
    const directories = refusals.map(
      ([command], n) => `mkdir d${n + 10}; ${command} > d${n + 10}/.gitmodules; `,
    );
    const good = [
      written('libs/a', 'path = libs/a', 'url = ../a.git', 'update = merge'),
      written('libs/b.c', 'path = libs/b.c', 'url = ../../b.git', 'branch = v1.x', 'ignore'),
      written('d', 'path = d.e', 'url = https://example.test/d.git', 'shallow = true'),
    ].join('; ');
    expect(await left(engine, `${directories.join('')}(${good}) > .gitmodules; echo x > file`)).toEqual({
      changed: ['.gitmodules', 'file'],
      refused: [],
      outside: refusals.map(([, why], n) => `d${n + 10}/.gitmodules: git refuses it: ${why}`),
    });
    const kept = `${attemptRef('run', 'task', attempts)}+outside:d12/.gitmodules`;
    expect(await engine.git.text(['show', kept])).toContain('path = -x');
  });

  test('that would take gigabytes to list is left out, and so is one that the base has as large, with a short message', async () => {
    await using engine = await makeEngine({ files: { 'd/.gitmodules': 'x'.repeat(17 * 1024 ** 2) } });
    const long = (chars: number): string => `"$(head -c ${chars} /dev/zero | tr '\\0' a)"`;
    const listed = `(printf '[submodule "%s"]\\n' ${long(60_000)}; yes a | head -10000)`;
    const named = `printf '[submodule "a"]\\nurl = -%s\\n' ${long(60_000)}`;
    const { changed, outside } = await left(
      engine,
      `${listed} > .gitmodules; mkdir e; ${named} > e/.gitmodules; echo x >> d/.gitmodules`,
    );
    expect(changed).toEqual([]);
    expect(outside).toEqual([
      '.gitmodules: its settings are more than 8 MB when git lists them',
      'd/.gitmodules: more than 256 KB larger than before',
      expect.stringMatching(
        /^e\/\.gitmodules: git refuses it: "url = -a{50,100}…" would be taken for an option$/,
      ),
    ]);
  });

  test('is known by each name that git knows it by, and no link may have one', async () => {
    await using engine = await makeEngine();
    const names = ['.gitmodules:x', 'GITMOD~4 ', 'gi7eba~1', 'GI7EB~12', 'g~123456', '~1234567.'];
    const bad = `'[submodule "a"]' 'url = -x'`;
    const files = names.map((name, n) => `mkdir d${n}; printf '%s\\n' ${bad} > 'd${n}/${name}'; `).join('');
    const others = `for name in gi7eba~ gi7eba~0 gi7ebb~1 gi7eba~12 gitmod~5; do printf '%s\\n' ${bad} > $name; done`;
    const why = 'git refuses it: "url = -x" would be taken for an option';
    const found = await left(engine, `${files} ${others}`);
    expect(found.outside).toEqual(names.map((name, n) => `d${n}/${name}: ${why}`));
    expect(found.changed).toHaveLength(5);
    const links = names.map((name, n) => `mkdir d${n}; ln -s x 'd${n}/${name}'; `).join('');
    expect(await left(engine, `${links} ln -s x gi7eba~12`)).toEqual({
      changed: ['gi7eba~12'],
      refused: names.map((name, n) => `d${n}/${name}: git refuses a link of this name`),
      outside: [],
    });
    // git has the last word: it takes all that is in the result
    const result = attemptRef('run', 'task', attempts);
    await engine.git.run(['read-tree', result]);
  });

  test('that the base has may be changed, as long as it becomes no worse', async () => {
    const old = `[submodule "a"]\n\tpath = a.b\n\turl = -u./old.git\n`;
    const long = `# ${'long. '.repeat(50_000)}\n`;
    await using engine = await makeEngine({ files: { '.gitmodules': old, 'd/.gitmodules': long } });
    const better = `printf '[submodule "b"]\n\turl = ../b.git\n' | tee -a .gitmodules >> d/.gitmodules`;
    expect(await left(engine, better)).toEqual({
      changed: ['.gitmodules', 'd/.gitmodules'],
      refused: [],
      outside: [],
    });
    const worse = `printf '[submodule "b"]\n\turl = -u./old.git\n' | tee -a .gitmodules >> d/.gitmodules`;
    const why = 'git refuses it: "url = -u./old.git" would be taken for an option';
    expect(await left(engine, worse)).toEqual({
      changed: [],
      refused: [],
      outside: [`.gitmodules: ${why}`, `d/.gitmodules: ${why}`],
    });
  });
});

describe('a .gitattributes', () => {
  const MANY = `for n in $(seq 200); do echo "**/${'*a'.repeat(60)}b$n text"; done`;
  const WHY =
    'git would take too long with so many rules: at most 256 KB, 10000 rules and 5000 wildcards more than before, in all';

  test('that would keep git busy is left out and kept', async () => {
    await using engine = await makeEngine();
    const few = `for n in $(seq 2000); do echo "*.x$n text"; done`;
    const large = 'mkdir e; yes "a text" | head -c 300000 > e/.gitattributes';
    const plain = 'mkdir f; seq 10000 19000 | sed "s/$/ text/" > f/.gitattributes';
    const all = `${few} > .gitattributes; mkdir d; ${MANY} > d/.gitattributes; ${large}; ${plain}`;
    expect(await left(engine, all)).toEqual({
      changed: ['.gitattributes'],
      refused: [],
      outside: ['d', 'e', 'f'].map((directory) => `${directory}/.gitattributes: ${WHY}`),
    });
    const kept = `${attemptRef('run', 'task', attempts)}+outside:d/.gitattributes`;
    expect(await engine.git.text(['show', kept])).toContain('*ab200 text');
  });

  test('that the base has may be changed, as long as few rules are added', async () => {
    const wild = Array.from({ length: 4000 }, (_, n) => `*/*.x${n} text\n`).join('');
    const plain = Array.from({ length: 20_000 }, (_, n) => `assets/${n}.bin lfs\n`).join('');
    await using engine = await makeEngine({ files: { '.gitattributes': wild, 'd/.gitattributes': plain } });
    const edit = `echo '*.new text' >> .gitattributes; sed -i '1d; $ a new.bin lfs' d/.gitattributes`;
    expect(await left(engine, edit)).toEqual({
      changed: ['.gitattributes', 'd/.gitattributes'],
      refused: [],
      outside: [],
    });
    const twice = 'cat .gitattributes .gitattributes > x; mv x .gitattributes';
    expect(await left(engine, `${twice}; ${MANY} > d/.gitattributes`)).toEqual({
      changed: [],
      refused: [],
      outside: [`.gitattributes: ${WHY}`, `d/.gitattributes: ${WHY}`],
    });
  });
});
