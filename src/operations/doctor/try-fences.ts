/** Tries what fences promise, for real: each forbidden thing is attempted inside, and what came of it is a finding. */
import { readlinkSync, statSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import type { Finding } from './finding.ts';
import { ended, type Scratch } from './scratch.ts';

const SECRET = 'a secret of this machine';
const CONNECT_MS = 500;

/** Runs inside. Says how each attempt ended: `done`, what was read, or the kernel's word for no. */
const PROBE = `
const fs = require('node:fs');
const [outside, secret, port] = process.argv.slice(1);
const attempt = (act) => { try { return act() ?? 'done'; } catch (error) { return error.code ?? String(error); } };
const said = {
  open: attempt(() => fs.writeFileSync('open/new', 'x')),
  closed: attempt(() => fs.writeFileSync('closed/file', 'x')),
  removed: attempt(() => fs.unlinkSync('closed/file')),
  made: attempt(() => fs.writeFileSync('closed/new', 'x')),
  outside: attempt(() => fs.writeFileSync(outside, 'x')),
  system: attempt(() => fs.writeFileSync('/usr/bosun-doctor', 'x')),
  hidden: attempt(() => fs.readFileSync('hidden/key', 'utf8')),
  secret: attempt(() => fs.readFileSync(secret, 'utf8')),
  pid: attempt(() => fs.readlinkSync('/proc/self/ns/pid')),
  net: attempt(() => fs.readlinkSync('/proc/self/ns/net')),
};
const end = (connection) => { console.log(JSON.stringify({ ...said, connection })); process.exit(0); };
const socket = require('node:net').connect(Number(port), '127.0.0.1');
socket.on('connect', () => end('connected')).on('error', (error) => end(error.code));
setTimeout(() => end('no answer'), ${CONNECT_MS});
`;
type Said = Record<
  | 'open'
  | 'closed'
  | 'removed'
  | 'made'
  | 'outside'
  | 'system'
  | 'hidden'
  | 'secret'
  | 'pid'
  | 'net'
  | 'connection',
  string
>;

export async function tryFences(scratch: Scratch): Promise<Finding[]> {
  await using server = await openServer();
  const secret = path.join(scratch.directory, 'secret');
  const outside = path.join(scratch.directory, 'outside');
  await writeFile(secret, SECRET, { mode: 0o644 });
  await writeFile(outside, '', { mode: 0o666 });
  const argv = [process.execPath, '-e', PROBE, outside, secret, String(server.port)];
  const { exit, stdout, stderr } = await ended(await scratch.launch(argv));
  let said: Said;
  try {
    said = JSON.parse(stdout) as Said;
  } catch {
    const why = stderr.trim().split('\n').at(-1) || `it ended with ${exit.signal ?? exit.code}`;
    return [
      { name: 'fences', level: 'fail', found: `nothing could be tried: node does not run inside (${why})` },
    ];
  }
  const isUntouched = (await readFile(outside, 'utf8')) === '';
  return [writes(said, isUntouched), reads(said), network(said, await server.answers()), namespaces(said)];
}

/** Agents use git all the time, and it needs more of a machine than most programs do. */
export async function tryGit(scratch: Scratch): Promise<Finding> {
  const name = 'git inside';
  const script = 'cd open && git init --quiet . && git hash-object -w file > /dev/null';
  const { exit, stderr } = await ended(await scratch.launch(['/bin/sh', '-c', script]));
  if (exit.code === 0) return { name, level: 'ok', found: 'git works behind the fence' };
  const why = stderr.trim().split('\n').at(-1) || `it ended with ${exit.signal ?? exit.code}`;
  const { mode } = statSync('/dev/null');
  const advice =
    (mode & 0o002) === 0
      ? 'everybody must be able to write /dev/null: sudo chmod 666 /dev/null'
      : exit.code === 127
        ? 'install git where every user finds it, such as in /usr/bin'
        : 'agents cannot use git until this is solved; the whole message: bosun exec -- git status';
  return { name, level: 'fail', found: `git does not work behind the fence (${why})`, advice };
}

const NO = ['EROFS', 'EACCES', 'EPERM'];

/** A file outside may seem to be written: where it lies in a /tmp, inside that is another. */
function writes(said: Said, isUntouched: boolean): Finding {
  const name = 'writes';
  const { open, closed, removed, made, system } = said;
  const inside = [closed, removed, made];
  const through = [
    ...(inside.every((answer) => NO.includes(answer)) ? [] : [`a read-only part (${inside.join(', ')})`]),
    ...(isUntouched ? [] : ['a file outside']),
    ...(NO.includes(system) ? [] : [`below /usr (${system})`]),
  ];
  if (through.length > 0)
    return { name, level: 'fail', found: `a command could write ${through.join(' and ')}` };
  if (open !== 'done')
    return { name, level: 'fail', found: `a command could not even write what its scope names (${open})` };
  const found = `refused outside the workspace (${system}) and in a read-only part (${closed})`;
  return { name, level: 'ok', found };
}

function reads({ hidden, secret }: Said): Finding {
  const isSeen = secret.includes(SECRET) || hidden.includes('untouched');
  if (isSeen) return { name: 'reads', level: 'fail', found: 'a command could read a file that is hidden' };
  return {
    name: 'reads',
    level: 'ok',
    found: `a hidden file (${hidden}) and one outside (${secret}) cannot be read`,
  };
}

function network({ connection }: Said, isServing: boolean): Finding {
  const name = 'network';
  if (connection === 'connected')
    return { name, level: 'fail', found: 'a command reached a port of this machine' };
  if (!isServing) return { name, level: 'warn', found: 'not tried: no port could be opened here' };
  return { name, level: 'ok', found: `a port of this machine is out of reach (${connection})` };
}

function namespaces(said: Said): Finding {
  const shared = (['pid', 'net'] as const).filter(
    (kind) => said[kind] === readlinkSync(`/proc/self/ns/${kind}`),
  );
  if (shared.length > 0)
    return { name: 'namespaces', level: 'fail', found: `shared with this machine: ${shared.join(', ')}` };
  return { name: 'namespaces', level: 'ok', found: 'processes and loopback of its own' };
}

interface Server extends AsyncDisposable {
  port: number;
  /** Whether it can be reached at all, so that a refusal inside means something. */
  answers(): Promise<boolean>;
}

async function openServer(): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => server.once('error', () => resolve()).listen(0, '127.0.0.1', resolve));
  const { port = 9 } = (server.address() as AddressInfo | null) ?? {};
  return {
    port,
    answers: () =>
      new Promise((resolve) => {
        const socket = connect(port, '127.0.0.1', () => (socket.destroy(), resolve(true)));
        socket.once('error', () => resolve(false));
      }),
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
