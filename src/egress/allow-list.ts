/** What the entries of `scope.network` allow, by name and port. Never resolves a name. */
import { domainToASCII } from 'node:url';
import { BosunError } from '../contract/errors.ts';
import { canonicalAddress } from './addresses.ts';
import { formatAuthority, parseAuthority, type Authority } from './authority.ts';

/** What an entry without a port opens. */
const PORTS = [80, 443];
const ENTRIES_MAX = 1000;
const SHOWN_CHARS_MAX = 100;
/** What this machine calls itself; never looked up. */
export const LOCALHOST = 'localhost';
export const LOCALHOST_ADDRESSES = ['127.0.0.1', '::1'];

export class AllowList {
  readonly #exact = new Set<string>();
  /** What stands behind `*.`, with the port. */
  readonly #wildcards = new Set<string>();

  /** Throws on an entry that says nothing this proxy can hold. */
  constructor(entries: readonly string[]) {
    if (entries.length > ENTRIES_MAX)
      throw invalid(`scope.network has ${entries.length} entries; at most ${ENTRIES_MAX} are possible`);
    for (const text of entries) this.#add(text);
  }

  /** Whether this very name or address may be asked for. */
  allows(host: string, isAddress: boolean, port: number): boolean {
    if (this.#exact.has(`${host} ${port}`)) return true;
    if (isAddress) return false;
    for (let dot = host.indexOf('.'); dot >= 0; dot = host.indexOf('.', dot + 1))
      if (this.#wildcards.has(`${host.slice(dot + 1)} ${port}`)) return true;
    return false;
  }

  #add(text: string): void {
    const entry = parseEntry(text);
    if (typeof entry === 'string') throw invalid(`scope.network: ${show(text)} ${entry}`);
    const { host, port, isWildcard } = entry;
    const hosts = host === LOCALHOST && !isWildcard ? [host, ...LOCALHOST_ADDRESSES] : [host];
    for (const each of hosts)
      for (const open of port === undefined ? PORTS : [port])
        (isWildcard ? this.#wildcards : this.#exact).add(`${each} ${open}`);
  }
}

/** What to write in `scope.network` so that this host and port are allowed. */
export function entryFor(host: string, port: number): string {
  return PORTS.includes(port) ? host : formatAuthority(host, port);
}

/** What is wrong with an entry, said after its text, and what to write instead. */
export function problemOfEntry(text: string): string | undefined {
  const entry = parseEntry(text);
  return typeof entry === 'string' ? entry : undefined;
}

function parseEntry(text: string): (Authority & { isWildcard: boolean }) | string {
  const address = canonicalAddress(text);
  if (address !== undefined) return { host: address, isAddress: true, port: undefined, isWildcard: false };
  const url = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(text);
  if (url !== null) return `is a URL; write the host alone: ${show(url[1]!)}`;
  if (/^[\d.]+\/\d+$|^[\da-f:]+\/\d+$/i.test(text)) return 'is a range; name each address';
  if (text.includes('/')) return 'has a path; write the host alone, such as "example.com"';
  const isWildcard = text.startsWith('*.');
  const rest = isWildcard ? text.slice(2) : text;
  if (rest.includes('*')) return 'has a * that is not at its start; write "*.example.com" for all below it';
  const authority = parseAuthority(toAscii(rest));
  if (typeof authority === 'string')
    return `is not a host: ${authority}; write "example.com", "*.example.com", "example.com:8080" or an address`;
  if (isWildcard && authority.isAddress) return 'has a * before an address; name each address';
  return { ...authority, isWildcard };
}

/** People write names in their own letters; requests carry punycode. */
function toAscii(text: string): string {
  if (!/[\u0080-\u{10ffff}]/u.test(text)) return text;
  const [, host, port] = /^(.*?)(:\d*)?$/s.exec(text)!;
  return `${domainToASCII(host!)}${port ?? ''}`;
}

function show(text: string): string {
  return JSON.stringify(text.slice(0, SHOWN_CHARS_MAX));
}

function invalid(message: string): BosunError {
  return new BosunError('invalid-workflow', message);
}
