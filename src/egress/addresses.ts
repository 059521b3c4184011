/** Says which IP addresses are not of the public internet, and what they are instead. Never looks a name up. */
import { BlockList, SocketAddress, isIPv4, isIPv6 } from 'node:net';

type Family = 'ipv4' | 'ipv6';

/** Of several that match the first one counts, so the narrow ones stand first. */
const RANGES: [family: Family, network: string, bits: number, what: string][] = [
  ['ipv4', '0.0.0.0', 8, 'an unspecified address'],
  ['ipv4', '127.0.0.0', 8, 'a loopback address'],
  ['ipv4', '169.254.0.0', 16, 'a link-local address'],
  ['ipv4', '10.0.0.0', 8, 'a private address'],
  ['ipv4', '172.16.0.0', 12, 'a private address'],
  ['ipv4', '192.168.0.0', 16, 'a private address'],
  ['ipv4', '100.64.0.0', 10, "a private address of a provider's network"],
  ['ipv4', '192.0.0.0', 24, 'a reserved address'],
  ['ipv4', '192.0.2.0', 24, 'an address for documentation'],
  ['ipv4', '198.51.100.0', 24, 'an address for documentation'],
  ['ipv4', '203.0.113.0', 24, 'an address for documentation'],
  ['ipv4', '192.88.99.0', 24, 'a reserved address'],
  ['ipv4', '198.18.0.0', 15, 'an address for benchmarks'],
  ['ipv4', '224.0.0.0', 4, 'a multicast address'],
  ['ipv4', '255.255.255.255', 32, 'the broadcast address'],
  ['ipv4', '240.0.0.0', 4, 'a reserved address'],
  ['ipv6', '::', 128, 'an unspecified address'],
  ['ipv6', '::1', 128, 'a loopback address'],
  // whatever carries an IPv4 address inside could lead to one that is not public
  ['ipv6', '::ffff:0:0', 96, 'an IPv4 address in an IPv6 one'],
  ['ipv6', '::ffff:0:0:0', 96, 'an IPv4 address in an IPv6 one'],
  ['ipv6', '::', 96, 'an IPv4 address in an IPv6 one'],
  ['ipv6', '64:ff9b::', 96, 'an IPv4 address in an IPv6 one'],
  ['ipv6', '64:ff9b:1::', 48, 'an IPv4 address in an IPv6 one'],
  ['ipv6', '2002::', 16, 'an IPv4 address in an IPv6 one'],
  ['ipv6', '2001::', 32, 'an IPv4 address in an IPv6 one'],
  ['ipv6', '2001::', 23, 'a reserved address'],
  ['ipv6', '2001:db8::', 32, 'an address for documentation'],
  ['ipv6', '3fff::', 20, 'an address for documentation'],
  ['ipv6', 'fe80::', 10, 'a link-local address'],
  ['ipv6', 'fec0::', 10, 'a private address'],
  ['ipv6', 'fc00::', 7, 'a private address'],
  ['ipv6', 'ff00::', 8, 'a multicast address'],
];

const NOT_PUBLIC = RANGES.map(([family, network, bits, what]) => ({
  family,
  range: rangeOf(network, bits, family),
  what,
}));
/** All that is given out of IPv6 so far. */
const GLOBAL_IPV6 = rangeOf('2000::', 3, 'ipv6');

/** The one spelling of an address that everything here compares; undefined for what is none, or has a zone. */
export function canonicalAddress(text: string): string | undefined {
  if (isIPv4(text)) return text;
  if (!isIPv6(text) || text.includes('%')) return undefined;
  return new SocketAddress({ address: text, family: 'ipv6' }).address;
}

/** What an address is, where it is not public. Anything that is not an address at all is not public either. */
export function whyNotPublic(address: string): string | undefined {
  const canonical = canonicalAddress(address);
  if (canonical === undefined) return 'not an address';
  const family = isIPv4(canonical) ? 'ipv4' : 'ipv6';
  const found = NOT_PUBLIC.find((entry) => entry.family === family && entry.range.check(canonical, family));
  if (found !== undefined) return found.what;
  return family === 'ipv4' || GLOBAL_IPV6.check(canonical, family) ? undefined : 'a reserved address';
}

function rangeOf(network: string, bits: number, family: Family): BlockList {
  const range = new BlockList();
  range.addSubnet(network, bits, family);
  return range;
}
