/**
 * Runs every attack twice, without a fence and inside it, and writes a line of JSON for each. Meant to be
 * started by start-runner.ts, in namespaces that keep the attacks that work from the machine.
 */
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync, chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { collectAsEngine, collectCarelessly, engineWorkspace, leftBehind } from './afterwards.ts';
import { ATTACKS, isTriedBothWays, ORDINARY, OUTPUT_KEPT_BYTES_MAX, type Attack } from './attacks.ts';
import { makeLaunchers, runFenced } from './fenced.ts';
import { startServers } from './servers.ts';
import { END, type Result, type Tried, type Way } from './result.ts';
import type { Launcher } from '../../src/system/process/process.ts';
import { runUnfenced } from './unfenced.ts';
import {
  differences,
  makeTemplate,
  makeWorld,
  photograph,
  removeWorld,
  startVictim,
  type Surroundings,
  type World,
} from './world.ts';

const OUTPUT_CHARS_MAX = 500;
const AT_ONCE = 4;
const GREEDY_AT_ONCE = 2;
const VICTIM_END_MS = 500;
/** Most attacks are on files: a process to attack is started only for those that name one. */
const VICTIM = /VICTIM_|ENGINE_PID|SECRET_HANDLE|KEY_NAME|SHARED_KEY|\/cwd/;

async function main(resultFile: string, only: string | undefined): Promise<void> {
  process.umask(0);
  const directory = mkdtempSync(path.join(tmpdir(), 'bosun-attack-'));
  chmodSync(directory, 0o777);
  try {
    const secret = randomBytes(12).toString('hex');
    process.env.ENGINE_KEY = `held-${secret}`;
    const surroundings = { directory, secret, servers: await startServers(directory, secret) };
    makeTemplate(surroundings);
    const attacks = ATTACKS.filter(({ program }) => only === undefined || program.includes(only));
    const tell = (result: Result): void => appendFileSync(resultFile, `${JSON.stringify(result)}\n`);
    const { native, utilLinux } = await makeLaunchers(directory);
    const each = (way: Way, attack: Attack) => async (): Promise<void> => {
      const launcher = { unfenced: undefined, fenced: native, fencedByUtilLinux: utilLinux }[way];
      tell({ program: attack.program, [way]: await tryOut(attack, surroundings, launcher) });
    };
    // what works finds its way into the worlds of others: one after another, but for those that only take
    const [greedy, others] = [attacks.filter(isGreedy), attacks.filter((attack) => !isGreedy(attack))];
    await inTurn(
      1,
      others.map((attack) => each('unfenced', attack)),
    );
    await inTurn(
      AT_ONCE,
      greedy.map((attack) => each('unfenced', attack)),
    );
    const ordinary = ORDINARY.filter(({ program }) => only === undefined || program.includes(only)).map(
      ({ program }): Attack => ({ program, cannot: '', evidence: '' }),
    );
    const all = [...attacks, ...ordinary];
    // how soon who takes too much is seen to depends on what else this process does: the others wait
    await inTurn(
      GREEDY_AT_ONCE,
      greedy.flatMap((attack) => [each('fenced', attack), each('fencedByUtilLinux', attack)]),
    );
    const modest = all.filter((attack) => !isGreedy(attack));
    await inTurn(AT_ONCE, [
      ...modest.map((attack) => each('fenced', attack)),
      ...modest.filter(isTriedBothWays).map((attack) => each('fencedByUtilLinux', attack)),
    ]);
    tell({ program: END });
  } finally {
    rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
  }
}

function isGreedy({ program }: Attack): boolean {
  return program.startsWith('resources/');
}

async function tryOut(
  attack: Attack,
  surroundings: Surroundings,
  launcher: Launcher | undefined,
): Promise<Tried> {
  const world = makeWorld(attack, surroundings);
  const made = attack.judged === 'when collected' ? await engineWorkspace(world) : undefined;
  const names = namesOf(attack, world);
  const victim = VICTIM.test(names)
    ? await startVictim(world, surroundings.secret, names.includes('KEY_NAME'))
    : undefined;
  try {
    const before = photograph(world);
    const ended = await (launcher === undefined
      ? runUnfenced(attack.program, world)
      : runFenced(attack.program, world, launcher));
    const changed = differences(before, photograph(world));
    if (victim !== undefined && (victim.exitCode !== null || victim.signalCode !== null))
      changed.push('the victim ended');
    const evidence = await judge();
    const output = ended.output.slice(0, OUTPUT_CHARS_MAX);
    return { ...ended, output, changed, ...(evidence !== undefined && { evidence }) };

    async function judge(): Promise<string | undefined> {
      if (made !== undefined)
        return launcher === undefined ? collectCarelessly(world) : collectAsEngine(world, made);
      if (attack.judged === 'when it has ended') return leftBehind(world);
      if (attack.judged === 'by the output kept') {
        const keptBytes = Buffer.byteLength(ended.output);
        return keptBytes > OUTPUT_KEPT_BYTES_MAX * 1.1 ? `${keptBytes} bytes were kept` : undefined;
      }
      const [, evidence] = /^SUCCEEDED: (.*)$/m.exec(ended.output) ?? [];
      return evidence;
    }
  } finally {
    if (victim !== undefined) await endVictim(victim);
    removeWorld(world);
  }
}

/** At the end of its input it takes its key back; one that cannot is ended. */
async function endVictim(victim: ChildProcess): Promise<void> {
  if (victim.exitCode !== null || victim.signalCode !== null) return;
  const timer = setTimeout(() => victim.kill('SIGKILL'), VICTIM_END_MS);
  victim.stdin!.end();
  await once(victim, 'exit');
  clearTimeout(timer);
}

/** What a program asks of the world, which says what it needs. */
function namesOf({ program }: Attack, { programs }: World): string {
  return readFileSync(path.join(programs, program), 'utf8');
}

async function inTurn(atOnce: number, jobs: (() => Promise<void>)[]): Promise<void> {
  const waiting = [...jobs];
  const work = async (): Promise<void> => {
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) await job();
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}

const [resultFile, only] = process.argv.slice(2);
await main(resultFile!, only);
process.exit(0);
