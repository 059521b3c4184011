/**
 * What is known of the programs that hosts run, such as GitHub's: which one it is, and where a person makes a pull
 * request of a branch. It contacts nobody.
 */
import type { RemoteConfig } from '../contract/config.ts';
import type { Address } from './address.ts';

export type Forge = NonNullable<RemoteConfig['forge']>;

const BY_HOST: [RegExp, Forge][] = [
  [/(^|\.)github(\.|$)|\.ghe\.com$/, 'github'],
  [/(^|\.)gitlab(\.|$)/, 'gitlab'],
  [/(^|\.)bitbucket\.org$/, 'bitbucket'],
  [/(^|\.)(gitea|forgejo)(\.|$)|^codeberg\.org$/, 'gitea'],
];

/** By what the user has configured, else by the host's name. */
export function forgeOf({ hostname }: Address, configured?: Forge): Forge | undefined {
  return configured ?? BY_HOST.find(([pattern]) => pattern.test(hostname.toLowerCase()))?.[1];
}

/** Of the repository, for a browser. */
export function pageOf({ transport, host, hostname, path }: Address): string {
  // an ssh port says nothing of where pages are
  const where = transport === 'ssh' ? `https://${hostname}` : `${transport}://${host}`;
  return `${where}/${path.split('/').map(encodePart).join('/')}`;
}

/** Where a person makes a pull request; without a base, from what the host takes as one. */
export function newRequestPage(forge: Forge, address: Address, branch: string, base?: string): string {
  const page = pageOf(address);
  const range = base === undefined ? encodeRef(branch) : `${encodeRef(base)}...${encodeRef(branch)}`;
  const query = (names: Record<string, string | undefined>): string =>
    Object.entries(names)
      .flatMap(([name, value]) =>
        value === undefined ? [] : `${encodeURIComponent(name)}=${encodeURIComponent(value)}`,
      )
      .join('&');
  const requests = {
    github: `/compare/${range}?expand=1`,
    gitea: `/compare/${range}`,
    gitlab: `/-/merge_requests/new?${query({ 'merge_request[source_branch]': branch, 'merge_request[target_branch]': base })}`,
    bitbucket: `/pull-requests/new?${query({ source: branch, dest: base })}`,
  };
  return `${page}${requests[forge]}`;
}

function encodeRef(branch: string): string {
  return branch.split('/').map(encodePart).join('/');
}

/** What an address has encoded already stays so. */
function encodePart(part: string): string {
  return encodeURIComponent(part).replaceAll('%25', '%').replaceAll('%7E', '~');
}
