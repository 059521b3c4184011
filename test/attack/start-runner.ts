/**
 * Starts the runner as root or as an ordinary user, in namespaces that keep it from the machine: whatever an
 * unfenced attack does to processes, mounts or the network, it does to something that is thrown away.
 */
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { METADATA_HOST, OTHER_HOST } from './servers.ts';
import { END, type Result } from './result.ts';

export type Identity = 'root' | 'an ordinary user';

const NOBODY = 65534;
/** Numbers of processes start high, so that none outside is also one inside a fence. */
const PREPARE = `
set -e
PATH=$PATH:/usr/sbin:/sbin
ip link set lo up
ip address add ${METADATA_HOST}/32 dev lo
ip address add ${OTHER_HOST}/32 dev lo
echo 0 >/proc/sys/net/ipv4/ip_unprivileged_port_start
echo 20000 >/proc/sys/kernel/ns_last_pid
mount -t tmpfs -o mode=1777 tmpfs "$TMPDIR"
exec "$@"
`;
export const RUNNER_TIMEOUT_MS = 180_000;
const OUTPUT_CHARS_MAX = 10_000;

export async function runAttacks(identity: Identity, only?: string): Promise<Map<string, Result>> {
  const directory = mkdtempSync(path.join(tmpdir(), 'bosun-attack-results-'));
  chmodSync(directory, 0o1777);
  const worlds = path.join(directory, 'worlds');
  mkdirSync(worlds);
  const resultFile = path.join(directory, 'results');
  const runner = [
    process.execPath,
    path.join(import.meta.dirname, 'runner.ts'),
    resultFile,
    ...(only ? [only] : []),
  ];
  const leak = [
    'perl',
    path.join(import.meta.dirname, 'programs/world/leak.pl'),
    path.join(directory, 'leaked'),
  ];
  // a terminal of its own, so that there is one to type into
  const inTerminal = ['script', '--quiet', '--return', '--command', quote([...leak, ...runner]), '/dev/null'];
  const spaces = ['--net', '--mount', '--pid', '--ipc', '--fork', '--kill-child=KILL', '--mount-proc'];
  const isRoot = process.getuid!() === 0;
  const asRoot = isRoot ? [] : ['--user', '--map-root-user'];
  const argv = [
    'unshare',
    ...asRoot,
    ...spaces,
    '--',
    'sh',
    '-c',
    PREPARE,
    'sh',
    ...become(identity, isRoot),
    ...inTerminal,
  ];
  try {
    const output = await run(argv, worlds);
    const results = readResults(resultFile);
    // a terminal that closes may end the runner by a signal after all was done: what counts is what it wrote
    if (!results.delete(END)) throw new Error(`the runner did not come to its end: ${output}`);
    return results;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function become(identity: Identity, isRoot: boolean): string[] {
  if (identity === 'root') return [];
  if (isRoot) return ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--'];
  return ['unshare', '--user', `--map-user=${process.getuid!()}`, `--map-group=${process.getgid!()}`, '--'];
}

async function run([command, ...args]: string[], worlds: string): Promise<string> {
  const env = { PATH: process.env.PATH, LANG: 'C', LEAKED: 'left-open', TMPDIR: worlds };
  // its input stays open: at the end of it, the terminal would hang up
  const child = spawn(command!, args, { cwd: '/', env, stdio: ['pipe', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(-OUTPUT_CHARS_MAX)));
  const timer = setTimeout(() => child.kill('SIGKILL'), RUNNER_TIMEOUT_MS);
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  clearTimeout(timer);
  return `${output} (code ${String(code)})`;
}

function readResults(file: string): Map<string, Result> {
  const results = new Map<string, Result>();
  if (!existsSync(file)) return results;
  for (const line of readFileSync(file, 'utf8').split('\n').filter(Boolean)) {
    const result = JSON.parse(line) as Result;
    results.set(result.program, { ...results.get(result.program), ...result });
  }
  return results;
}

function quote(argv: string[]): string {
  return argv.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
}
