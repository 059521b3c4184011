/** Checks that this machine is ready. It tries things; it changes nothing that stays. */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Reading } from '../../contract/operations.ts';
import { Home } from '../../store/home.ts';
import { describeIsolation, describeLimits } from '../../report/isolation.ts';
import { chooseSandbox, type Sandbox } from '../../sandbox/choose.ts';
import { findGit } from '../../system/files/state-directory.ts';
import { demandsOfConfigs, isolationOf } from '../../run/isolation.ts';
import { checkDesktop } from './check-desktop.ts';
import type { Finding } from './finding.ts';
import {
  checkDisk,
  checkGit,
  checkNative,
  checkNode,
  checkRepository,
  checkSocat,
  checkTar,
} from './machine.ts';
import { checkRuntimes } from './runtimes.ts';
import { Scratch } from './scratch.ts';
import { tryFences, tryGit } from './try-fences.ts';
import { tryForkBomb, tryToEnd } from './try-processes.ts';

export async function diagnose(options: Reading<'doctor'>): Promise<Finding[]> {
  const repository = await checkRepository(options.cwd);
  const git = findGit(options.cwd);
  const home = git && new Home(git);
  const directory = git?.commonDir;
  const [sandbox, runtimes] = await Promise.all([checkSandbox(directory, home), checkRuntimes(home)]);
  options.signal?.throwIfAborted();
  return [
    checkNode(),
    await checkGit(),
    repository.finding,
    ...sandbox,
    ...(process.platform === 'linux' ? [checkNative(), checkSocat()] : []),
    await checkDisk(directory ?? options.cwd),
    await checkTar(),
    ...checkDesktop(),
    ...runtimes,
  ];
}

/** Tried where workspaces will lie; without a repository, or where that cannot be written, with temporary files. */
async function checkSandbox(directory: string | undefined, home: Home | undefined): Promise<Finding[]> {
  const inPlace = directory && (await mkdtemp(path.join(directory, 'bosun-doctor-')).catch(() => undefined));
  const place = inPlace ?? (await mkdtemp(path.join(tmpdir(), 'bosun-doctor-')));
  const sandbox = await chooseSandbox(place);
  await using scratch = new Scratch(place, sandbox);
  const writable: Finding[] =
    directory === undefined || inPlace !== undefined
      ? []
      : [
          {
            name: 'writable',
            level: 'fail',
            found: `${directory} cannot be written`,
            advice: 'make it writable: bosun keeps its journal and workspaces there',
          },
        ];
  return [
    ...writable,
    ...checkIsolation(sandbox, home),
    ...(await tryOut(scratch, sandbox)),
    ...checkLimits(sandbox),
    checkOverlay(sandbox, path.dirname(place)),
  ];
}

/** The whole in one line; worse where somebody demands more. */
function checkIsolation(sandbox: Sandbox, home: Home | undefined): Finding[] {
  const name = 'isolation';
  let demands: string[];
  try {
    demands = demandsOfConfigs(home);
  } catch (error) {
    return [{ name, level: 'fail', found: (error as Error).message, advice: 'fix the configuration' }];
  }
  const required = demands.length > 0 ? `; required by ${demands.join(' and ')}` : '';
  const found = `${describeIsolation({ ...isolationOf(sandbox), notes: [] }).split(';')[0]}${required}`;
  if (sandbox.kind === 'fences') return [{ name, level: 'ok', found }];
  const level = required === '' ? 'warn' : 'fail';
  return sandbox.lacks.map(({ what, remedy: advice }, n) => {
    return { name, level, found: n === 0 ? found : `and ${what}`, advice };
  });
}

/** All at once: each in a workspace of its own. */
async function tryOut(scratch: Scratch, { kind }: Sandbox): Promise<Finding[]> {
  const hasFences = kind === 'fences';
  const isLinux = process.platform === 'linux';
  const tried = await Promise.all([
    hasFences ? tryFences(scratch) : [],
    hasFences && isLinux ? tryGit(scratch) : [],
    hasFences ? tryForkBomb(scratch) : [],
    isLinux ? tryToEnd(scratch, hasFences) : [],
  ]);
  return tried.flat();
}

function checkLimits({ limits }: Sandbox): Finding[] {
  if (limits === undefined) return [];
  const found = describeLimits(limits.held);
  const isBest = limits.notes.length === 0;
  return [
    isBest
      ? { name: 'limits', level: 'ok', found }
      : { name: 'limits', level: 'warn', found, advice: limits.notes[0]! },
  ];
}

function checkOverlay({ kind, overlay, notes }: Sandbox, where: string): Finding {
  const name = 'overlay';
  if (overlay)
    return { name, level: 'ok', found: `workspaces cost only what they change (tried in ${where})` };
  return {
    name,
    level: 'warn',
    found: notes.join('; ') || 'workspaces are full copies',
    ...(kind !== 'none' && {
      advice: 'a file system that can hold layers (ext4, xfs, btrfs) makes workspaces quick and small',
    }),
  };
}
