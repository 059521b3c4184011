/**
 * Holds a command by sandbox-exec on macOS. There are no namespaces there: processes are held by their group alone,
 * and no limit on memory, processes or disk is kept. Mounts nothing, and opens nothing to a running command.
 *
 * UNTESTED: written from documentation, on a machine without macOS.
 */
import { existsSync, mkdirSync, mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { BosunError } from '../../contract/errors.ts';
import type { Fence } from '../../system/process/fence.ts';
import type { Exit, Launch, Launcher, Running } from '../../system/process/process.ts';
import { removeTree } from '../../system/files/remove-tree.ts';
import { BareLauncher } from '../none.ts';
import { profileOf } from './seatbelt.ts';

const SANDBOX_EXEC = '/usr/bin/sandbox-exec';
/** How sandbox-exec ends when it could not take or apply the profile; what it says then begins with its name. */
const FAILED = new Set([65, 71]);
const MARK = 'sandbox-exec: ';
const WHY_CHARS_MAX = 4096;
/** The profile is an argument; all of them together must stay below 1 MB. */
const PROFILE_BYTES_MAX = 512 * 1024;

/** For people: what is weaker here. */
export const MACOS_NOTES = [
  'sandbox-exec: its profile was written from documentation and not tried on macOS',
  'no namespaces: loopback is shared and closed to commands, and a process that leaves its group is not held',
  'no limits on memory, processes, cpu or disk',
  'access granted while a command runs takes effect at its next attempt',
];

export class MacosLauncher implements Launcher {
  readonly #bare = new BareLauncher();

  /** With a fence, `cwd` is the workspace that it is about. */
  launch(launch: Launch): Running {
    if (launch.fence === undefined) return this.#bare.launch(launch);
    const workspace = realpathSync(launch.cwd);
    if (!existsSync(SANDBOX_EXEC)) throw cannotHold(launch, `${SANDBOX_EXEC} is missing`);
    const scratch = realpathSync(mkdtempSync(path.join(tmpdir(), 'bosun-home-')));
    const [home, temporary] = [path.join(scratch, 'home'), path.join(scratch, 'tmp')];
    try {
      for (const directory of [home, temporary]) mkdirSync(directory);
      const profile = profileOf(resolved(launch.fence), workspace, {
        scratch: [home, temporary],
        ...proxyOf(launch.env),
      });
      const profileBytes = Buffer.byteLength(profile);
      if (profileBytes > PROFILE_BYTES_MAX)
        throw cannotHold(
          launch,
          `its scope makes a profile of ${profileBytes} bytes, sandbox-exec takes ${PROFILE_BYTES_MAX}; use fewer, wider globs`,
        );
      const running = this.#bare.launch({
        ...launch,
        argv: [SANDBOX_EXEC, '-p', profile, ...launch.argv],
        cwd: workspace,
        env: { ...launch.env, HOME: home, TMPDIR: temporary },
      });
      const exited = told(running, launch, () => removeTree(scratch));
      exited.catch(() => {}); // whoever waits is told; nobody may be waiting yet
      return { ...running, exited };
    } catch (error) {
      void removeTree(scratch);
      throw error;
    }
  }
}

/** The end of the command, or why it never ran; either way after `clean`. */
async function told(running: Running, launch: Launch, clean: () => Promise<void>): Promise<Exit> {
  let said = '';
  running.stderr.on('data', (chunk: Buffer) => {
    if (said.length < MARK.length) said += chunk.toString('utf8', 0, WHY_CHARS_MAX);
  });
  try {
    const exit = await running.exited;
    if (!FAILED.has(exit.code ?? 0) || !said.startsWith(MARK)) return exit;
    throw cannotHold(launch, said.slice(MARK.length).trim());
  } finally {
    await clean();
  }
}

function cannotHold({ argv, cwd }: Launch, why: string): BosunError {
  return new BosunError('system', `cannot hold ${argv[0]} in ${cwd}: ${why}`, { data: { why } });
}

/** The port that the command is told to find its proxy at: there is no bridge to the proxy's socket here. */
function proxyOf({ HTTP_PROXY: proxy }: Record<string, string>): { proxyPort?: number } {
  const [, port] = /^http:\/\/(?:127\.0\.0\.1|localhost):(\d+)\/?$/.exec(proxy ?? '') ?? [];
  return port === undefined ? {} : { proxyPort: Number(port) };
}

/** The kernel knows files by their real paths: /tmp is a link to /private/tmp. */
function resolved(fence: Fence): Fence {
  return {
    ...fence,
    read: fence.read.map(realOf),
    own: fence.own.map(realOf),
    ...(fence.sockets !== undefined && { sockets: realOf(fence.sockets) }),
  };
}

/** Of what is not there yet, its parent's real path is known. */
function realOf(name: string): string {
  try {
    return realpathSync(name);
  } catch {
    const parent = path.dirname(name);
    return parent === name ? name : path.join(realOf(parent), path.basename(name));
  }
}
