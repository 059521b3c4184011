/**
 * Which remote is meant, and its address. Of the repository's configuration nothing counts but addresses: not the
 * programs, proxies and rewritings that it could name as well, for a repository may have come in an archive.
 */
import { BosunError } from '../contract/errors.ts';
import type { Repository } from '../system/git/repository.ts';
import { readSettings } from '../system/git/work-tree.ts';
import { parseAddress, type Address } from './address.ts';

export interface Remote {
  /** Undefined where an address was given in place of a name. */
  name?: string;
  address: Address;
  /** Of a remote that is pushed to at another host: the one that it is fetched from, as far as that is known. */
  fetchedFrom?: string;
}

const NAMES_SHOWN_MAX = 10;
const NAME = /^\w[\w./-]*$/;

export async function findRemote(
  repository: Repository,
  named: string | undefined,
  purpose: 'fetch' | 'push',
): Promise<Remote> {
  const settings = new Map(await firstOfEach(repository));
  const names = [...settings.keys()].flatMap((key) => /^remote\.(.+)\.url$/.exec(key)?.[1] ?? []);
  if (named !== undefined && !names.includes(named) && /[:/]/.test(named))
    return { address: parseAddress(named) };
  const upstream = repository.branch && settings.get(`branch.${repository.branch}.remote`);
  const only = names.length === 1 ? names[0] : undefined;
  const name =
    named ?? [upstream, 'origin'].find((each) => each !== undefined && names.includes(each)) ?? only;
  const url =
    name === undefined
      ? undefined
      : ((purpose === 'push' ? settings.get(`remote.${name}.pushurl`) : undefined) ??
        settings.get(`remote.${name}.url`));
  if (name === undefined || url === undefined) throw unknown(repository, named, names);
  if (!NAME.test(name) || name.includes('..'))
    throw new BosunError('usage', `the name of the remote has odd characters in it: git remote rename it`);
  const address = parseAddress(url);
  const elsewhere = purpose === 'push' && otherHost(address, settings.get(`remote.${name}.url`));
  return { name, address, ...(elsewhere && { fetchedFrom: elsewhere }) };
}

/** The host of a remote, where it is not the one of `address`. By ssh and by https a host has different ports. */
function otherHost(address: Address, url: string | undefined): string | undefined {
  let remote: Address;
  try {
    remote = parseAddress(url ?? '');
  } catch {
    return 'elsewhere';
  }
  const isSame =
    remote.transport === address.transport
      ? remote.host === address.host
      : remote.hostname === address.hostname;
  return isSame ? undefined : remote.host;
}

/** git takes the first address of several to fetch from, and pushes to all; bosun pushes to the first. */
async function firstOfEach(repository: Repository): Promise<[string, string][]> {
  const seen = new Set<string>();
  return (await readSettings(repository)).filter(([key]) => {
    if (seen.has(key) && /^remote\..*url$/.test(key)) return false;
    seen.add(key);
    return true;
  });
}

function unknown({ top }: Repository, named: string | undefined, names: string[]): BosunError {
  const shown = names.slice(0, NAMES_SHOWN_MAX).join(', ');
  if (names.length === 0)
    return new BosunError(
      'not-found',
      `${top} has no remote: add one with git remote add origin <address>, or give an address with --remote`,
    );
  if (named === undefined)
    return new BosunError('usage', `${top} has several remotes: ${shown}; name one with --remote`);
  return new BosunError('not-found', `${top} has no remote ${named}; there are: ${shown}`);
}
