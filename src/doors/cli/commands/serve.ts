/** `bosun serve`: opens the HTTP door until it is told to end. */
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { PACKAGE } from '../../../base/package-directory.ts';
import { ownVersion } from '../../../base/version.ts';
import { BosunError } from '../../../contract/errors.ts';
import { safeJson } from '../../../report/text/plain.ts';
import { serve, type Serving } from '../../http/serve.ts';
import { mcpMount } from '../../mcp/mount.ts';
import { keepDetails } from '../../bug.ts';
import { ask } from '../ask.ts';
import { isOn, optionText, type Typed } from '../command.ts';
import { errorStream, outliveReader, say, writeError, writeOut } from '../output.ts';

const PORT = 7420;
const PORT_MAX = 65_535;
/** Each leaves a file. */
const BUGS_MAX = 20;
const LOOPBACK = /^(127\.\d+\.\d+\.\d+|::1|localhost)$/;

export async function run(typed: Typed): Promise<number> {
  if (isOn(typed, 'printUnit')) {
    writeOut(unit());
    return 0;
  }
  delete process.env.BOSUN_TRUST; // who asks says it with each request, and an admin alone
  const host = optionText(typed, 'host') ?? '127.0.0.1';
  const socketPath = optionText(typed, 'socket');
  let bugs = 0;
  const allowHosts = (typed.options.allowHost ?? []) as string[];
  await using mcp = mcpMount({ version: ownVersion(), hosts: [host, ...allowHosts] });
  await using serving = await serve({
    host,
    port: portOf(typed),
    allowHosts,
    mounts: [mcp],
    ...(socketPath !== undefined && { socketPath: path.resolve(socketPath) }),
    tokensOnly: isOn(typed, 'tokensOnly'),
    version: ownVersion(),
    onTrouble: (text) => say(text),
    onBug: (error) => {
      if (bugs++ < BUGS_MAX) say(keepDetails(error));
    },
  });
  const ended = Promise.race(['SIGINT', 'SIGTERM', 'SIGHUP'].map((signal) => once(process, signal)));
  // Not before: what fails to start has not handed a repository to the server that is there already.
  await allow(typed.args);
  outliveReader();
  errorStream(); // it may be gone long before the server is
  tell(serving, isOn(typed, 'json'));
  if (!LOOPBACK.test(host))
    say(
      `WARNING: ${host} can be reached from other machines, and tokens travel in the clear; put a proxy with TLS before it`,
    );
  await tellRepositories();
  await ended;
  return 0;
}

/** Those that were named, or else the one that the user stands in; what was allowed before still is. */
async function allow(directories: readonly string[]): Promise<void> {
  for (const directory of directories) {
    if (/^\d{1,5}$/.test(directory) && !existsSync(directory))
      throw new BosunError('usage', `there is no directory ${directory}; the port is: --port ${directory}`);
    await ask('allowRepository', { directory });
  }
  if (directories.length > 0) return;
  try {
    await ask('allowRepository', {});
  } catch (error) {
    if (!(error instanceof BosunError) || error.code !== 'no-repository') throw error;
  }
}

function tell({ url, token, socketPath }: Serving, asJson: boolean): void {
  const address = token === undefined ? url : `${url}/#token=${token}`;
  if (asJson) writeOut(`${safeJson({ url, ...(token !== undefined && { token }), socket: socketPath })}\n`);
  else writeOut(`${address}\n`);
}

async function tellRepositories(): Promise<void> {
  const names = (await ask('repositories', {})).map(({ name }) => name);
  const what =
    names.length === 0
      ? 'no repository yet; add one with: bosun repositories add <directory>'
      : names.join(', ');
  writeError(`serving ${what}\nCtrl-C ends the server; runs continue without it\n`);
}

function portOf(typed: Typed): number {
  const text = optionText(typed, 'port');
  if (text === undefined) return PORT;
  if (/^\d{1,5}$/.test(text) && Number(text) <= PORT_MAX) return Number(text);
  throw new BosunError(
    'usage',
    `--port must be a number from 0 (any free port) to ${PORT_MAX}, not "${text}"`,
  );
}

/** No token is printed: what a service prints, more people can read. Runs that it starts outlive it. */
function unit(): string {
  const program = path.join(PACKAGE, 'bin', 'bosun');
  return `[Unit]
Description=bosun serve
After=network.target

[Service]
ExecStart=${program.replaceAll('%', '%%').replaceAll(' ', '\\x20')} serve --tokens-only
WorkingDirectory=%h
Restart=on-failure
KillMode=process
NoNewPrivileges=no

[Install]
WantedBy=default.target
`;
}
