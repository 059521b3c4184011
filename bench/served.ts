/** A `bosun serve` of the package as npm packs it, with records of its own, and requests to it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { installedBosun } from './installed.ts';
import { scratch } from './scratch.ts';

export interface Served {
  url: string;
  token: string;
  pid: number;
  /** For commands that are to see what the server does. */
  env: NodeJS.ProcessEnv;
  ask(method: string, path: string, body?: unknown): Promise<any>;
  /** Also of the engines that it has started in these repositories. */
  end(): Promise<void>;
}

export async function startServing(
  repositories: readonly string[],
  more: NodeJS.ProcessEnv = {},
): Promise<Served> {
  const state = scratch('state');
  mkdirSync(path.join(state, 'bosun'), { mode: 0o700 });
  const env = { ...process.env, ...more, XDG_STATE_HOME: state };
  const args = ['serve', '--port', '0', '--json', ...repositories];
  const child = spawn(installedBosun(), args, { cwd: state, env, stdio: ['ignore', 'pipe', 'ignore'] });
  const exited = once(child, 'exit');
  const said = await Promise.race([
    once(createInterface(child.stdout), 'line').then(([line]) => String(line)),
    exited.then(() => Promise.reject(new Error('bosun serve ended before it was ready'))),
  ]);
  const { url, token } = JSON.parse(said) as { url: string; token: string };
  return {
    url,
    token,
    pid: child.pid!,
    env,
    async ask(method, at, body) {
      const response = await fetch(`${url}${at}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${at} gave ${response.status}: ${text}`);
      return text === '' ? undefined : JSON.parse(text);
    },
    async end() {
      child.kill('SIGTERM');
      await exited;
      for (const repository of repositories) endEngines(repository);
    },
  };
}

/** With them goes all that they drive. */
function endEngines(repository: string): void {
  const runs = path.join(repository, '.git', 'bosun', 'runs');
  const notes = readdirSync(runs).flatMap((run) => {
    try {
      return [JSON.parse(readFileSync(path.join(runs, run, 'engine.json'), 'utf8')) as { pid: number }];
    } catch {
      return [];
    }
  });
  const pids = new Set(notes.map((note) => note.pid));
  pids.delete(process.pid); // of runs that a bench has only written down
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // it has ended
    }
  }
}
