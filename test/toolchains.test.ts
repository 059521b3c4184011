/** Tools that manage versions work behind a fence, and nothing of their users' secrets comes with them. */
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isFenced } from '../src/contract/isolation.ts';
import { chooseSandbox, type Sandbox } from '../src/sandbox/choose.ts';
import { toolHomes } from '../src/sandbox/machine/tool-homes.ts';
import { toolchains } from '../src/sandbox/machine/toolchains.ts';
import type { Fence } from '../src/system/process/fence.ts';
import { BOSUN, eventsIn, startProgram } from './fixtures/cli.ts';
import { makeRepository } from './fixtures/repository.ts';

const NO_ENGINE = {};
const SECRETS = [
  '.cargo/credentials.toml', '.cargo/config.toml', '.npmrc', '.netrc', '.config/gh/hosts.yml',
  '.docker/config.json', '.ssh/id_ed25519', '.gnupg/key', '.aws/credentials', '.m2/settings.xml',
]; // prettier-ignore

let directory: string;
let home: string;
let sandbox: Sandbox;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'bosun-tools-'));
  await chmod(directory, 0o755);
  home = path.join(directory, 'home');
  await mkdir(path.join(directory, 'layers'));
  sandbox = await chooseSandbox(path.join(directory, 'layers'));
  expect(isFenced(sandbox), 'these tests need bubblewrap').toBe(true);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

describe.each([
  ['open', 0o755],
  ['closed to others', 0o700],
])('behind a fence, from a home that is %s', (name, mode) => {
  beforeAll(async () => {
    home = path.join(directory, name);
    await fill();
    await chmod(home, mode);
  });

  test('a shim of pyenv finds its versions', async () => {
    expect(await inside(['.pyenv/shims'], 'python')).toBe(`python 3.9 of ${home}/.pyenv\n`);
  });

  test('a shim of rustup finds its toolchains', async () => {
    expect(await inside(['.cargo/bin'], 'cargo')).toBe('cargo of stable\n');
  });

  test('a program behind two links finds what belongs to it', async () => {
    expect(await inside(['bin'], 'tool')).toBe('home = elsewhere\n');
  });

  test('no secret of the home is to be seen, and nothing there can be changed', async () => {
    const tools = ['.pyenv/shims', '.cargo/bin', 'bin'];
    const files = [...SECRETS, '.pyenv/cache/token'].map((name) => `"${path.join(home, name)}"`).join(' ');
    expect(await inside(tools, `cat ${files} "${home}/bin/home/.netrc" 2>/dev/null; true`)).toBe('');
    const seen = await inside(tools, `cd "${home}" && find . -type f`);
    expect(seen).toContain('./.cargo/bin/cargo\n');
    for (const secret of SECRETS) expect(seen).not.toContain(secret);
    const write = `cd "${home}"; for f in .cargo/bin/new .pyenv/shims/new .pyenv/version; do echo x >$f && echo wrote; done 2>/dev/null; true`;
    expect(await inside(tools, write)).toBe('');
  });
});

test('an agent finds the tools of its engine, and its scope may say where else they are', async () => {
  home = path.join(directory, 'engine');
  await fill();
  await using repository = await makeRepository();
  const workflow = {
    name: 'w',
    tasks: {
      one: { run: 'cargo' },
      two: { run: 'echo "$RUSTUP_HOME"', scope: { env: { RUSTUP_HOME: '/elsewhere' } } },
    },
  };
  await repository.write({ 'bosun.yaml': JSON.stringify(workflow) });
  const PATH = `${path.join(home, '.cargo/bin')}:${process.env.PATH}`;
  const ran = startProgram([BOSUN, 'run', '--json'], repository.path, { PATH, HOME: home });
  const { stdout } = await ran.finished;
  const said = eventsIn(stdout).flatMap((event) => (event.type === 'attempt.output' ? [event.text] : []));
  expect(new Set(said), stdout).toEqual(new Set(['/elsewhere\n', 'cargo of stable\n']));
});

describe('the homes of tools', () => {
  beforeAll(() => {
    home = path.join(directory, 'others');
  });
  const asked = (
    directories: string[],
    engine: NodeJS.ProcessEnv = NO_ENGINE,
  ): ReturnType<typeof toolHomes> =>
    toolHomes(directories.map((name) => path.join(home, name)).join(':'), engine);
  const shown = (found: ReturnType<typeof toolHomes>): string[] =>
    found.flatMap(({ show }) => show).map((file) => path.relative(home, file)).sort(); // prettier-ignore

  test.each([
    ['.rbenv/shims', { RBENV_ROOT: '.rbenv' }, ['.rbenv/versions']],
    ['.nodenv/shims', { NODENV_ROOT: '.nodenv' }, ['.nodenv/versions']],
    ['.asdf/shims', { ASDF_DATA_DIR: '.asdf' }, ['.asdf/installs', '.tool-versions']],
    ['.local/share/mise/shims', { MISE_DATA_DIR: '.local/share/mise' }, ['.local/share/mise/installs']],
    ['.volta/bin', { VOLTA_HOME: '.volta' }, ['.volta/tools']],
    ['.linuxbrew/bin', {}, ['.linuxbrew/Cellar', '.linuxbrew/etc/ca-certificates', '.linuxbrew/opt']],
    ['.sdkman/candidates/maven/current/bin', {}, ['.sdkman/candidates/maven/current/conf']],
    ['.sdkman/candidates/java/current/bin', { JAVA_HOME: '.sdkman/candidates/java/current' }, []],
  ])('of %s are shown and named', async (bin, variables, parts) => {
    for (const part of [bin, ...parts]) await mkdir(path.join(home, part), { recursive: true });
    const found = asked([bin]);
    const names = Object.entries(Object.assign({}, ...found.map((each) => each.variables)) as object);
    expect(names).toEqual(Object.entries(variables).map(([name, at]) => [name, path.join(home, at)]));
    const paths = shown(found);
    for (const part of parts)
      expect(
        paths.some((each) => each === part || part.startsWith(`${each}/`)),
        part,
      ).toBe(true);
  });

  test('are found where the environment of the engine says they are', async () => {
    await put('other/rust/settings.toml', 'stable');
    const engine = { CARGO_HOME: path.join(home, 'other/cargo'), RUSTUP_HOME: path.join(home, 'other/rust') };
    const found = asked(['other/cargo/bin'], engine);
    expect(found).toEqual([
      { show: [path.join(home, 'other/rust/settings.toml')], variables: { RUSTUP_HOME: engine.RUSTUP_HOME } },
    ]);
    expect(asked(['other/cargo/bin'])).toEqual([]);
  });

  test('are left alone where they are not on the PATH, or not there', () => {
    expect(asked(['bin', '.fnm/bin'])).toEqual([]);
    expect(toolHomes('/nowhere/.cargo/bin:.cargo/bin', NO_ENGINE)).toEqual([]);
  });

  test('of a Go or a Java that was unpacked somewhere have all that these need', async () => {
    for (const file of ['sdk/go/bin/go', 'sdk/go/VERSION', 'sdk/go/src/fmt/print.go', 'sdk/go/.token'])
      await put(file, '');
    for (const file of ['jdk/bin/java', 'jdk/release', 'jdk/conf/net.properties']) await put(file, '');
    expect(shown(asked(['sdk/go/bin', 'jdk/bin']))).toEqual([
      'jdk/conf', 'jdk/release', 'sdk/go/VERSION', 'sdk/go/src',
    ]); // prettier-ignore
  });
});

test.runIf(process.getuid!() === 0)('what an ordinary user may not enter is passed over', async () => {
  home = path.join(directory, 'not-mine');
  await put('.cargo/bin/cargo', '');
  await put('.rustup/settings.toml', '');
  await symlink(path.join(home, '.cargo/bin/cargo'), path.join(directory, 'layers/cargo'));
  await chmod(home, 0o700);
  const PATH = [path.join(home, '.cargo/bin'), path.join(directory, 'layers')].join(':');
  const program = `
    import { toolHomes } from '${path.resolve('src/sandbox/machine/tool-homes.ts')}';
    import { toolchains } from '${path.resolve('src/sandbox/machine/toolchains.ts')}';
    console.log(JSON.stringify([toolchains('${PATH}', '/nowhere').paths, toolHomes('${PATH}', {})]));`;
  const as = 'setpriv --reuid=65534 --regid=65534 --clear-groups --'.split(' ');
  const node = [process.execPath, '--input-type=module', '--eval', program];
  const { stdout, stderr } = await startProgram([...as, ...node], '/').finished;
  expect(stdout, stderr).toBe(`${JSON.stringify([[path.join(directory, 'layers')], []])}\n`);
});

test('a thousand programs that are links do not become a thousand mounts', async () => {
  await mkdir(path.join(home, 'many'));
  for (let n = 0; n < 1000; n += 1) {
    await put(`far/${n}/program`, '');
    await symlink(`../far/${n}/program`, path.join(home, 'many', `p${n}`));
  }
  expect(toolchains(path.join(home, 'many'), home).paths).toHaveLength(150);
});

/** Runs a line of shell with these directories of the home on its PATH. */
async function inside(directories: string[], line: string): Promise<string> {
  const PATH = [...directories.map((name) => path.join(home, name)), '/usr/bin', '/bin'].join(':');
  const variables = toolHomes(PATH, NO_ENGINE).map((each) => each.variables);
  const fence: Fence = {
    write: [], keep: [], grantable: [], mask: [], own: [], egress: false, limits: {},
    read: toolchains(PATH, home).paths,
  }; // prettier-ignore
  const running = sandbox.launcher.launch({
    argv: ['/bin/sh', '-c', line],
    cwd: path.join(directory, 'layers'),
    emptyCwd: true,
    env: Object.assign({ PATH }, ...variables) as Record<string, string>,
    fence,
  });
  let output = '';
  for (const stream of [running.stdout, running.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await running.exited;
  return output;
}

/** Tools as they lie in homes, with secrets beside them. */
async function fill(): Promise<void> {
  await put('.pyenv/versions/3.9/bin/python', '#!/bin/sh\necho python 3.9 of "$PYENV_ROOT"\n');
  await put('.pyenv/version', '3.9\n');
  await put('.pyenv/libexec/pyenv', '#!/bin/sh\nread v <"$PYENV_ROOT/version"; exec "$PYENV_ROOT/versions/$v/bin/$1"\n'); // prettier-ignore
  await put('.pyenv/shims/python', '#!/bin/sh\nexec "${PYENV_ROOT:-$HOME/.pyenv}/libexec/pyenv" python\n');
  await put('.pyenv/cache/token', 'secret');
  await put('.rustup/settings.toml', 'stable');
  await put('.rustup/toolchains/stable/bin/cargo', '#!/bin/sh\necho cargo of stable\n');
  await put('.cargo/bin/cargo', '#!/bin/sh\nhome=${RUSTUP_HOME:-$HOME/.rustup}\nexec "$home/toolchains/$(cat "$home/settings.toml")/bin/cargo"\n'); // prettier-ignore
  await put('tools/venv/pyvenv.cfg', 'home = elsewhere\n');
  await put('tools/venv/bin/real', '#!/bin/sh\ncat "$(dirname "$(readlink -f "$0")")/../pyvenv.cfg"\n');
  await mkdir(path.join(home, 'bin'));
  await symlink('real', path.join(home, 'tools/venv/bin/alias'));
  await symlink('../tools/venv/bin/alias', path.join(home, 'bin/tool'));
  await symlink(home, path.join(home, 'bin/home'));
  for (const secret of SECRETS) await put(secret, 'secret');
}

async function put(name: string, text: string): Promise<void> {
  const file = path.join(home, name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, text, { mode: 0o755 });
}
