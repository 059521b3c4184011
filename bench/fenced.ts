/**
 * What the engine starts for a task, as its launcher is given it, fence and all; and the same launch in directories
 * of its own, to be started as often as a bench likes. It starts nothing itself but the one run that it looks at.
 */
import { chmodSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Stages } from '../src/attempt/attempt.ts';
import type { WorkflowSource } from '../src/contract/workflow.ts';
import { createRun } from '../src/run/create-run.ts';
import { Drive } from '../src/run/drive.ts';
import { workflow } from '../src/index.ts';
import { openEngine } from '../src/run/open-engine.ts';
import type { Fence } from '../src/system/process/fence.ts';
import type { Launch, Launcher } from '../src/system/process/process.ts';
import { give, sandboxUid } from '../src/system/process/sandbox-user.ts';

export type FencedLaunch = Launch & { fence: Fence };

interface Seen {
  launcher: Launcher;
  launch: FencedLaunch;
}

/** Runs a workflow of one task to its end and returns what was started for it. */
export async function launchOf(repo: string, source: WorkflowSource): Promise<Seen> {
  await using room = await openEngine(repo);
  const { repository, sandbox, store } = room;
  if (sandbox.kind !== 'fences' || !sandbox.overlay)
    throw new Error(`this machine has no fences to measure: ${sandbox.notes.join('; ')}`);
  const { launcher } = sandbox;
  let seen: Launch | undefined;
  // It makes nothing ahead: what is started is then all there is to see.
  const looking: Launcher = { uid: launcher.uid, launch: (what) => launcher.launch((seen = what)) };
  const stages: Stages = { ...room.stages, launcher: looking };
  const { head: base } = repository;
  const run = { workflow: workflow(source), source: 'bench', inputs: {}, base, dirty: false };
  const { id, claim } = await createRun(store, run, Date.now());
  using _ = claim;
  const { state } = await (await Drive.open(id, { store, stages, nowMs: Date.now })).run([]);
  if (state !== 'done' || seen?.fence === undefined)
    throw new Error(`run ${id} in ${repo} is ${state}, or had no fence`);
  return { launcher, launch: { ...seen, fence: seen.fence } };
}

/**
 * Nobody else gets into the state directory, and each run sees to that; our launcher has a handle, lines that are
 * written by hand have not.
 */
function openToAll(base: string): void {
  for (let at = path.dirname(base); path.basename(at) !== '.git'; at = path.dirname(at)) chmodSync(at, 0o755);
}

/** Makes the directories that an attempt has to itself, and puts a launch into them. `directory` is new. */
export function placed(launch: FencedLaunch, directory: string): FencedLaunch {
  const make = (name: string): string => {
    const made = path.join(directory, name);
    mkdirSync(made);
    give(sandboxUid, made);
    return made;
  };
  mkdirSync(directory);
  const { overlay, fence } = launch;
  const own = {
    ...fence,
    own: [make('own')],
    ...(fence.sockets !== undefined && { sockets: make('sockets') }),
  };
  if (overlay === undefined) return { ...launch, fence: own };
  openToAll(overlay.lowers.at(-1)!);
  const [upper, work, at] = [make('upper'), make('work'), make('at')];
  return { ...launch, fence: own, cwd: at, overlay: { ...overlay, upper, work, at } };
}
