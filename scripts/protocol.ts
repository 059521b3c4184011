/**
 * Runs the protocol's own tools against `bosun mcp`: the inspector in its three eras over stdio, and the conformance
 * suite over HTTP, whose scenarios mostly want the tools of a server made for it: those are in test/protocol's baseline.
 * Outside of `npm test`, since the two take 144 MB and are installed apart.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openMcpHttp } from '../src/doors/mcp/http.ts';
import { MCP_TOOLS } from '../src/doors/mcp/tools.ts';
import { spawn } from 'node:child_process';

const ROOT = path.resolve(import.meta.dirname, '..');
const PLACE = path.join(ROOT, 'test/protocol');
const BIN = path.join(PLACE, 'node_modules/.bin');
const REVISION = '2026-07-28';
const TIMEOUT_MS = 300_000;

if (!existsSync(BIN))
  execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'], {
    cwd: PLACE,
    stdio: ['ignore', 2, 2],
  });

const repository = mkdtempSync(path.join(tmpdir(), 'bosun-protocol-'));
const git = (...args: string[]): void => void execFileSync('git', args, { cwd: repository, stdio: 'ignore' });
git('init', '--quiet');
git('-c', 'user.name=a', '-c', 'user.email=a@localhost', 'commit', '--quiet', '--allow-empty', '-m', 'Start');

let isAll = true;
function tell(what: string, isRight: boolean, details = ''): void {
  isAll &&= isRight;
  process.stdout.write(`${isRight ? 'ok  ' : 'FAIL'} ${what}${isRight ? '' : `\n${details}`}\n`);
}

for (const era of ['legacy', 'auto', 'modern']) {
  const inspect = (...args: string[]): { stdout: string; stderr: string; status: number | null } =>
    spawnSync(
      path.join(BIN, 'mcp-inspector'),
      ['--cli', path.join(ROOT, 'bin/bosun'), 'mcp', '--protocol-era', era, '--format', 'json', ...args],
      { cwd: repository, encoding: 'utf8', timeout: TIMEOUT_MS },
    );
  const listed = inspect('--method', 'tools/list', '--strict');
  const names = MCP_TOOLS.filter(({ name }) => listed.stdout.includes(`"${name}"`));
  const isQuiet = !listed.stderr.includes('Warning:');
  tell(
    `inspector, ${era}: lists ${names.length} tools`,
    listed.status === 0 && names.length === MCP_TOOLS.length && isQuiet,
    listed.stderr,
  );
  const called = inspect(
    '--method',
    'tools/call',
    '--tool-name',
    'engine_execute',
    '--tool-arg',
    'workflow={"name":"hello","tasks":{"a":{"run":"true"}}}',
    'key=once',
  );
  tell(`inspector, ${era}: starts a run`, called.stdout.includes('hello-1'), called.stdout + called.stderr);
}

await using mcp = openMcpHttp({ version: '0', where: () => ({ cwd: repository }) });
const server = createServer((request, response) => void mcp.serve(request, response));
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
const baseline = path.join(PLACE, 'baseline.yml');
const suite = spawn(
  path.join(BIN, 'conformance'),
  ['server', '--url', url, '--requirements', REVISION, '--expected-failures', baseline],
  { stdio: ['ignore', 'pipe', 'pipe'], timeout: TIMEOUT_MS },
);
let said = '';
for (const stream of [suite.stdout, suite.stderr])
  stream.on('data', (text: Buffer) => (said += text.toString()));
const code = await new Promise<number | null>((resolve) => suite.once('close', resolve));
const total = /^Total: .*$/m.exec(said)?.[0] ?? '';
const expected = readFileSync(baseline, 'utf8').match(/^ +- /gm)?.length ?? 0;
tell(`conformance ${REVISION}: ${total}, with ${expected} scenarios in the baseline`, code === 0, said);
server.closeAllConnections();
server.close();
process.exitCode = isAll ? 0 : 1;
