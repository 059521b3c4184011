/** Whether the entries of `scope.network` name the host and port of a URL that somebody else would fetch. */
import { AllowList } from './allow-list.ts';
import { parseAuthority } from './authority.ts';

export function mayReach(entries: readonly string[]): (url: URL) => boolean {
  const allow = new AllowList(entries);
  return ({ hostname, port, protocol }) => {
    const asked = parseAuthority(hostname);
    const usual = protocol === 'https:' ? 443 : 80;
    return typeof asked !== 'string' && allow.allows(asked.host, asked.isAddress, Number(port) || usual);
  };
}
