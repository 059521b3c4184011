/** Making a repository of a remote's. */
import path from 'node:path';
import type { Reading } from '../contract/operations.ts';
import type { Cloned } from '../contract/outputs.ts';
import { parseAddress } from '../remote/address.ts';
import { cloneRemote, directoryFor } from '../remote/clone.ts';
import { requireBranchName } from '../remote/push.ts';
import { reachRemote, type ReachOptions } from './reach-remote.ts';

export async function clone(options: Reading<'clone'> & ReachOptions): Promise<Cloned> {
  const { cwd, url, depth, branch } = options;
  const address = parseAddress(url);
  if (branch !== undefined) await requireBranchName(branch);
  const directory = path.resolve(cwd, options.directory ?? directoryFor(address.path));
  const made = await cloneRemote(await reachRemote({ address }, options), { directory, depth, branch });
  return { directory, url: address.url, ...made };
}
