/**
 * Writes the entry for `bosun mcp` where agents look for tool servers: of this repository, or of the user. What is there
 * stays as it is; a file that cannot be added to is left alone, and the entry is given to be added by hand.
 */
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { machineError } from '../../base/machine-failure.ts';
import { PACKAGE } from '../../base/package-directory.ts';
import { BosunError } from '../../contract/errors.ts';
import { MCP_CLIENTS, type McpClient } from '../../contract/mcp-clients.ts';
import type { Asked } from '../../contract/operations.ts';
import type { McpEntries } from '../../contract/mcp-outputs.ts';
import { findGit } from '../../system/files/state-directory.ts';
import { findProgram } from '../../system/process/process.ts';
import { CLIENTS, OtherEntry, type Client } from './clients.ts';

type Entry = McpEntries['entries'][number];

/** Larger than any settings; somebody put something else there. */
const FILE_BYTES_MAX = 16 * 1024 * 1024;

export async function initMcp({ cwd, clients, user = false }: Asked<'initMcp'>): Promise<McpEntries> {
  const named = (clients ?? MCP_CLIENTS.filter((name) => findProgram(CLIENTS[name].program))) as McpClient[];
  const unknown = named.find((name) => !MCP_CLIENTS.includes(name));
  if (unknown !== undefined)
    throw new BosunError('usage', `${unknown} is not an agent that is known here: ${MCP_CLIENTS.join(', ')}`);
  if (named.length === 0)
    throw new BosunError(
      'not-found',
      `none of ${MCP_CLIENTS.map((name) => CLIENTS[name].program).join(', ')} is on the PATH; name one: bosun init --mcp --for ${MCP_CLIENTS[0]}`,
    );
  const top = user ? undefined : findGit(cwd)?.top;
  if (!user && top === undefined)
    throw new BosunError(
      'no-repository',
      `${cwd} is not in a git repository; for all of yours: bosun init --mcp --user`,
    );
  const command = commandHere();
  const entries = named.map((name): Entry => {
    const client = CLIENTS[name];
    const file = top === undefined ? client.user(homedir(), process.env) : path.join(top, client.project);
    return { client: name, file, ...add(client, file, command, top) };
  });
  return { command, entries };
}

function add(
  client: Client,
  file: string,
  command: string,
  top: string | undefined,
): Pick<Entry, 'did' | 'why' | 'entry'> {
  const entry = client.entry(command);
  const alone = (why: string): Pick<Entry, 'did' | 'why' | 'entry'> => ({ did: 'left', why, entry });
  const link = top === undefined ? undefined : linkOnTheWay(top, file);
  if (link !== undefined) return alone(`${path.relative(top!, link)} is a link, which may lead anywhere`);
  let changed: string | undefined;
  const real = existsSync(file) ? realpathSync(file) : file;
  const text = readSettings(real);
  try {
    changed = client.add(text ?? '', command);
  } catch (error) {
    if (error instanceof OtherEntry)
      return alone('it has another entry of that name, which is not what bosun writes');
    return alone(`it cannot be read as it is (${(error as Error).message.split('\n', 1)[0]})`);
  }
  if (changed === undefined) return { did: 'kept', entry };
  replace(real, text, changed);
  return { did: 'written', entry };
}

/** As others would type it; where nobody can, by its place. */
function commandHere(): string {
  const own = path.join(PACKAGE, 'bin', 'bosun');
  const found = findProgram('bosun');
  return found !== undefined && realpathSync(found) === realpathSync(own) ? 'bosun' : own;
}

/** A repository may have come with links to files of the user's. */
function linkOnTheWay(top: string, file: string): string | undefined {
  let at = top;
  for (const name of path.relative(top, file).split(path.sep)) {
    at = path.join(at, name);
    if (lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink()) return at;
  }
  return undefined;
}

function readSettings(file: string): string | undefined {
  return translated(file, () => {
    const stat = statSync(file, { throwIfNoEntry: false });
    if (!stat) return undefined;
    if (!stat.isFile() || stat.size > FILE_BYTES_MAX)
      throw new BosunError(
        'system',
        `${file} is no settings file: it is ${stat.isFile() ? 'too large' : 'something else'}`,
      );
    return readFileSync(file, 'utf8');
  });
}

/** All of it or nothing, and only where nobody else has changed it meanwhile. */
function replace(file: string, before: string | undefined, text: string): void {
  translated(file, () => {
    mkdirSync(path.dirname(file), { recursive: true });
    const fresh = `${file}.bosun-${process.pid}`;
    try {
      writeFileSync(fresh, text, { flag: 'wx', mode: 0o600 });
      chmodSync(fresh, statSync(file, { throwIfNoEntry: false })?.mode ?? 0o644);
      if (readSettings(file) !== before)
        throw new BosunError('busy', `${file} was changed just now by somebody else; type the same again`);
      renameSync(fresh, file);
    } finally {
      rmSync(fresh, { force: true });
    }
  });
}

function translated<T>(file: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (error instanceof BosunError) throw error;
    const what = `cannot write ${file}`;
    throw (
      machineError(error, what) ??
      new BosunError('system', `${what}: ${(error as Error).message}`, { cause: error })
    );
  }
}
