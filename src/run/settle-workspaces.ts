/**
 * Puts the workspaces of a repository where its user wants them, as long as none is there that a run may still need:
 * nothing is ever moved.
 */
import path from 'node:path';
import { loadConfigs, userConfigFile } from '../definition/config.ts';
import type { Home } from '../store/home.ts';
import { namesIn } from '../system/files/names-in.ts';
import { isWithin } from '../base/is-within.ts';
import { realPath } from '../system/files/real-path.ts';
import { removeTree } from '../system/files/remove-tree.ts';
import { openPlace, pointSandbox } from '../system/files/sandbox-elsewhere.ts';
import { makePlaces } from './prepare-home.ts';

/** Throws where what is wanted is not safe. */
function wantedPlace(home: Home): string | undefined {
  const users = loadConfigs([home.config, userConfigFile()]).find(({ isUsers }) => isUsers);
  const place = users?.config.workspaces;
  return place === undefined ? undefined : openPlace(place, home.top);
}

/** Whoever calls it is alone. */
export async function settleWorkspaces(home: Home): Promise<void> {
  if (!isElsewhere(home) || isInUse(home)) return;
  const before = home.sandbox;
  pointSandbox(home.directory, wantedPlace(home), path.basename(home.top));
  await makePlaces(home);
  await removeTree(before);
}

/** What a person should know: where they are is not where they are wanted. */
export function unsettled(home: Home): string[] {
  if (!isElsewhere(home)) return [];
  return [
    `workspaces stay in ${home.sandbox} for now, since runs that can be resumed have some there or another run is at work; to free it: bosun workspaces clean`,
  ];
}

function isElsewhere(home: Home): boolean {
  const place = wantedPlace(home);
  const at = realPath(home.sandbox);
  return place === undefined ? !isWithin(realPath(home.directory), at) : path.dirname(at) !== place;
}

function isInUse(home: Home): boolean {
  return [home.layers, home.workspaces, home.memories].some((directory) => namesIn(directory).length > 0);
}
