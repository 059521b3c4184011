/** Checks the hosts of a scope's `network`: a name, `*.` and a name, or an address, each with or without a port. */
import { isIP, isIPv4, isIPv6 } from 'node:net';
import { domainToASCII } from 'node:url';
import { hostOf as serviceHost, serviceOf, SERVICE_DOMAIN } from '../../contract/services.ts';

const ENTRY_CHARS_MAX = 300;
const HOST_CHARS_MAX = 253;
const PORT_MAX = 65_535;

/** What is wrong with an entry and what to write instead, to be put after the entry itself. */
export function hostProblem(entry: string): string | undefined {
  if (entry === '') return 'is empty; write a host such as example.com';
  if (entry.length > ENTRY_CHARS_MAX) return 'is longer than a host can be; write one such as example.com';
  if (/\s|\p{Cc}/u.test(entry)) return 'holds a blank; write one host per entry, such as example.com';
  const scheme = /^[a-z][a-z0-9+.-]*:\/\//i.exec(entry)?.[0];
  if (scheme !== undefined)
    return `begins with "${scheme}"; write the host alone: ${hostOf(entry.slice(scheme.length))}`;
  if (/^[^/]+\/\d+$/.test(entry) && isIP(entry.split('/')[0]!) !== 0)
    return 'is a range of addresses, which cannot be had; write each address, or a host name';
  if (/[/?#]/.test(entry))
    return `has a path, which is not looked at; write the host alone: ${hostOf(entry)}`;
  if (entry.includes('@'))
    return `has a user; write the host alone: ${entry.slice(entry.lastIndexOf('@') + 1)}`;
  if (entry === '*') return 'would be every host; name the hosts, such as example.com or *.example.com';
  if (isIPv6(entry)) return entry.includes('%') ? 'has a zone; write the address alone' : undefined;
  const split = /^(\[[^\]]*\]|[^:[\]]*)(?::([^:]*))?$/.exec(entry);
  if (!split) return 'is not a host; an IPv6 address with a port is written [2001:db8::1]:443';
  const [, host = '', port] = split;
  return (
    portProblem(port) ??
    serviceProblem(host.toLowerCase(), port) ??
    (host.startsWith('[') ? bracketProblem(host) : nameProblem(host))
  );
}

/** Of a name that ends in `.bosun`: that is a service of the run, and nothing else. */
function serviceProblem(host: string, port: string | undefined): string | undefined {
  const name = host.startsWith('*.') ? host.slice(2) : host;
  const service = serviceOf(name);
  if (service === undefined || (name !== host && name === SERVICE_DOMAIN && port === undefined))
    return undefined;
  if (service === '' || name !== host)
    return `is not a service of a run; write one such as ${serviceHost('web')}, or *.${SERVICE_DOMAIN} for all of them`;
  return port === undefined ? undefined : `has a port, and a service is one; write ${host}`;
}

function portProblem(port: string | undefined): string | undefined {
  if (port === undefined) return undefined;
  if (port === '') return 'ends in ":"; add a port such as :443, or remove it';
  if (port === '*') return 'has any port, which is what a host without a port means; remove ":*"';
  if (!/^\d{1,5}$/.test(port) || Number(port) < 1 || Number(port) > PORT_MAX)
    return `has the port "${port}"; a port is a number from 1 to ${PORT_MAX}`;
  return undefined;
}

function bracketProblem(host: string): string | undefined {
  const inside = host.slice(1, -1);
  if (isIPv6(inside) && !inside.includes('%')) return undefined;
  return 'has brackets around what is not an IPv6 address; write it as [2001:db8::1]:443';
}

function nameProblem(host: string): string | undefined {
  if (isIPv4(host)) return undefined;
  if (host === '') return 'has a port but no host; write it as example.com:443';
  const name = host.startsWith('*.') ? host.slice(2) : host;
  if (name.includes('*'))
    return 'has a "*" that does not stand for a whole first part; write *.example.com, or each host';
  if (name !== host && /^[\d.]+$/.test(name)) return 'is an address with a wildcard; write each address';
  if (/^[\d.]+$/.test(name))
    return 'is not an IPv4 address; write four numbers from 0 to 255, such as 192.0.2.1';
  if (name.endsWith('.')) return `ends in a dot; write ${host.replace(/\.+$/, '')}`;
  // oxlint-disable-next-line no-control-regex
  if (/[^\x00-\x7f]/.test(name)) {
    const ascii = domainToASCII(name);
    return `holds letters beyond ASCII; write ${ascii === '' ? 'it as the network does' : host.replace(name, ascii)}`;
  }
  const isName = name.split('.').every((label) => /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/i.test(label));
  if (!isName || name.length > HOST_CHARS_MAX) return 'is not a host name; write one such as example.com';
  return undefined;
}

/** The part of a URL that could stand in the list. */
function hostOf(rest: string): string {
  const host = rest.split(/[/?#]/)[0]!;
  return host.slice(host.lastIndexOf('@') + 1) || 'example.com';
}
