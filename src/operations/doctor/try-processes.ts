/** Tries what is promised of processes: a fork bomb meets its limit, a grant reaches who runs, and nobody stays. */
import { randomUUID } from 'node:crypto';
import type { Running } from '../../system/process/process.ts';
import { isProcessMarked, until } from './find-process.ts';
import type { Finding } from './finding.ts';
import { buildAdvice } from './machine.ts';
import { ended, type Scratch } from './scratch.ts';

const BOMB = 10;
/** Few enough for a bomb of ten to be far beyond, with all that the engine itself has in there. */
const BOMB_PROCESSES_MAX = 1;
/** What is promised of a kill and a grant. */
const SOON_MS = 1000;
/** How long is waited, all the same: a machine may be busy with other things. */
const WAIT_MS_MAX = 5000;

export async function tryForkBomb(scratch: Scratch): Promise<Finding> {
  const name = 'fork bomb';
  const script = `for n in $(seq ${BOMB}); do sleep 3 & done; wait`;
  const limits = { processes: BOMB_PROCESSES_MAX };
  const { exit, stderr } = await ended(await scratch.launch(['/bin/sh', '-c', script], limits));
  if (exit.breach?.limit === 'processes')
    return { name, level: 'ok', found: `of ${BOMB}, stopped by the limit on processes` };
  if (/fork/i.test(stderr)) return { name, level: 'ok', found: `of ${BOMB}, refused by the kernel` };
  return { name, level: 'fail', found: `of ${BOMB}, not stopped by a limit of ${BOMB_PROCESSES_MAX}` };
}

/** `canGrant`: the sandbox has fences, so that there is something to open. */
export async function tryToEnd(scratch: Scratch, canGrant: boolean): Promise<Finding[]> {
  const mark = randomUUID();
  const script = `
trap '' TERM INT HUP
setsid sh -c 'trap "" TERM; while :; do sleep 0.05; done' ${mark} &
echo ready
until [ -n "$1" ] || echo x 2>/dev/null > later/new; do sleep 0.01; done
echo granted
while :; do sleep 0.05; done
`;
  const argv = ['/bin/sh', '-c', script, mark, ...(canGrant ? [] : ['no'])];
  const running = await scratch.launch(argv);
  let said = '';
  running.stdout.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-100)));
  running.stderr.resume();
  let hasEnded = false;
  const exited = running.exited.catch(() => {}).finally(() => (hasEnded = true));
  const prints = async (text: string): Promise<boolean> => {
    await until(() => hasEnded || said.includes(text), WAIT_MS_MAX);
    return said.includes(text);
  };
  if (!(await prints('ready'))) {
    running.kill();
    await exited;
    return [{ name: 'cancel', level: 'fail', found: 'nothing could be tried: no command starts inside' }];
  }
  const grant = canGrant ? [await tryGrant(running, prints)] : [];
  running.signal('SIGTERM');
  const beganMs = performance.now();
  running.kill();
  const isGone = await until(async () => !(await isProcessMarked(mark)), WAIT_MS_MAX);
  const tookMs = Math.round(performance.now() - beganMs);
  await exited;
  const name = 'cancel';
  if (!isGone) return [...grant, { name, level: 'fail', found: 'a process is left that takes no signals' }];
  const found = `all gone after ${tookMs} ms, though signals are ignored`;
  return [...grant, { name, level: tookMs <= SOON_MS ? 'ok' : 'warn', found }];
}

async function tryGrant(running: Running, prints: (text: string) => Promise<boolean>): Promise<Finding> {
  const name = 'grant';
  if (running.grant === undefined)
    return {
      name,
      level: 'warn',
      found: "grants take effect at the agent's next attempt",
      advice: buildAdvice(),
    };
  const beganMs = performance.now();
  try {
    await running.grant(['later']);
  } catch (error) {
    return { name, level: 'fail', found: (error as Error).message };
  }
  if (!(await prints('granted')))
    return {
      name,
      level: 'fail',
      found: 'a running command does not get it',
      advice: 'fix the other findings first; without it, grants take effect at the next attempt',
    };
  const tookMs = Math.round(performance.now() - beganMs);
  return {
    name,
    level: tookMs <= SOON_MS ? 'ok' : 'warn',
    found: `reaches a running command in ${tookMs} ms`,
  };
}
