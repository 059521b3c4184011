/** What opens a remote: the token that was named, else the one that the user configured for its host. */
import path from 'node:path';
import type { RemoteConfig } from '../contract/config.ts';
import { loadConfigs, userConfigFile } from '../definition/config.ts';
import { objectionTo, ProviderKey } from '../gateway/keys/keys.ts';
import { readPrivateFile } from '../gateway/keys/private-file.ts';
import { BosunError } from '../contract/errors.ts';
import type { Address } from '../remote/address.ts';
import type { RemoteToken } from '../remote/credentials.ts';
import type { Remote } from '../remote/find-remote.ts';
import type { RemoteReach } from '../remote/transfer.ts';

const TOKEN_BYTES_MAX = 16 * 1024;

/** How a door says who can be asked, and a test what is waited for. */
export type ReachOptions = Pick<RemoteReach, 'mayPrompt' | 'waitsMs'>;

interface ReachRequest extends ReachOptions {
  cwd: string;
  tokenFile?: string;
  signal?: AbortSignal;
}

export async function reachRemote(remote: Remote, request: ReachRequest): Promise<RemoteReach> {
  const { address } = remote;
  const { cwd, tokenFile, signal, mayPrompt, waitsMs } = request;
  if (tokenFile !== undefined) requireExpectedHost(remote);
  const token =
    tokenFile === undefined
      ? await configuredToken(address, signal)
      : await readToken(path.resolve(cwd, tokenFile));
  return { address, token, signal, mayPrompt, waitsMs };
}

/** A token that is named by its file is bound to no host, and where pushes go is for the repository to say. */
function requireExpectedHost({ name, address, fetchedFrom }: Remote): void {
  if (fetchedFrom === undefined) return;
  throw new BosunError(
    'usage',
    `the remote ${name} is fetched from ${fetchedFrom}, but this repository sends pushes to ${address.host}, which would get your token; if that is meant, name the address: --remote ${address.url}`,
  );
}

/** What the user's own configuration says of a host; a repository's may not. */
export function remoteConfig(address: Address): RemoteConfig | undefined {
  const [users] = loadConfigs([userConfigFile()]);
  const remotes = users?.config.remotes ?? {};
  // the port of ssh says nothing about the host
  const host = (address.transport === 'ssh' ? address.hostname : address.host).toLowerCase();
  return Object.hasOwn(remotes, host) ? remotes[host] : undefined;
}

async function configuredToken(
  address: Address,
  signal: AbortSignal | undefined,
): Promise<RemoteToken | undefined> {
  if (address.transport === 'ssh') return undefined;
  const { token: source, user } = remoteConfig(address) ?? {};
  if (source === undefined) return undefined;
  const key = new ProviderKey(source, 'bearer');
  const value = await key.read(signal);
  return { value, how: key.how, user, variable: 'env' in source ? source.env : undefined };
}

async function readToken(file: string): Promise<RemoteToken> {
  const remedy = 'create it with mode 600, or correct the path';
  const value = (
    await readPrivateFile({ file, what: 'token file', bytesMax: TOKEN_BYTES_MAX, remedy })
  ).trim();
  const objection = objectionTo(value);
  if (objection) throw new BosunError('usage', `the token from file ${file} ${objection}`);
  return { value, how: `file ${file}` };
}
