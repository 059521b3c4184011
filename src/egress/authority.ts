/** Reads `host:port` as requests and allow lists write it. What could be read in two ways is refused, never guessed. */
import { isIPv6 } from 'node:net';
import { canonicalAddress } from './addresses.ts';

export const HOST_CHARS_MAX = 253;
const LABEL_CHARS_MAX = 63;

export interface Authority {
  /** Lower case, no trailing dot, punycode; or an address in its one spelling, without brackets. */
  host: string;
  isAddress: boolean;
  port: number | undefined;
}

/** The authority, or in one clause why it is none. */
export function parseAuthority(text: string, hostCharsMax = HOST_CHARS_MAX): Authority | string {
  const [, bracketed, plain, digits] = /^(?:\[([^[\]]*)\]|([^:[\]]*))(?::(\d*))?$/s.exec(text) ?? [];
  if (bracketed === undefined && plain === undefined) return 'its host and port cannot be told apart';
  const port = digits === undefined ? undefined : parsePort(digits);
  if (digits !== undefined && port === undefined) return 'its port is not a number from 1 to 65535';
  if (bracketed !== undefined) {
    const address = isIPv6(bracketed) ? canonicalAddress(bracketed) : undefined;
    return address === undefined
      ? 'what stands in brackets is not a plain IPv6 address'
      : { host: address, isAddress: true, port };
  }
  const host = parseHost(plain!, hostCharsMax);
  return 'why' in host ? host.why : { ...host, port };
}

function parseHost(text: string, charsMax: number): Omit<Authority, 'port'> | { why: string } {
  const host = text.toLowerCase().replace(/\.$/, '');
  if (host === '') return { why: 'it names no host' };
  if (host.length > charsMax) return { why: `its name has more than ${charsMax} characters` };
  // leaves out percent signs, spaces, NUL, @, backslashes and letters that are not ASCII
  if (!/^[a-z0-9_.-]+$/.test(host)) return { why: 'its name has characters that no host name has' };
  const labels = host.split('.');
  if (labels.some((label) => label === '' || label.length > LABEL_CHARS_MAX))
    return { why: 'a part of its name is empty or too long' };
  // resolvers read 127.1, 2130706433, 0177.0.0.1 and 0x7f.1 as addresses, so only the plain spelling passes
  if (/^(\d+|0x[\da-f]*)$/.test(labels.at(-1)!)) {
    const address = canonicalAddress(host);
    return address === undefined
      ? { why: 'it is an odd spelling of an address' }
      : { host: address, isAddress: true };
  }
  return { host, isAddress: false };
}

/** Undefined for what is no port. */
function parsePort(digits: string): number | undefined {
  const port = Number(digits);
  return /^[1-9]\d{0,4}$/.test(digits) && port <= 65_535 ? port : undefined;
}

/** As it stands in a URL or a Host header. */
export function formatAuthority(host: string, port: number, defaultPort?: number): string {
  const name = host.includes(':') ? `[${host}]` : host;
  return port === defaultPort ? name : `${name}:${port}`;
}
