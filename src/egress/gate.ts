/**
 * Decides on one request: first by name, then by every address the name has. A name that is not allowed is not
 * even looked up, so nothing leaks through DNS. Whoever connects takes the addresses checked here, no others.
 */
import { lookup } from 'node:dns/promises';
import { canonicalAddress, whyNotPublic } from './addresses.ts';
import { entryFor, LOCALHOST, LOCALHOST_ADDRESSES, type AllowList } from './allow-list.ts';
import { formatAuthority, parseAuthority, type Authority } from './authority.ts';

export type Resolve = (host: string) => Promise<string[]>;

export interface Denied {
  host: string;
  /** 0 where the request names none. */
  port: number;
  why: string;
}

/** Where a request may go: all addresses were checked. */
export interface Target {
  host: string;
  port: number;
  addresses: string[];
}

/** Why a request goes nowhere; a value, because that is an everyday outcome. */
export class EgressRefusal {
  readonly status: number;
  /** One line for whoever asked. */
  readonly message: string;
  /** Only where the scope is the reason. */
  readonly denied: Denied | undefined;

  constructor(status: number, message: string, denied?: Denied) {
    this.status = status;
    this.message = message;
    this.denied = denied;
  }
}

const SHOWN_CHARS_MAX = 100;

export const resolveBySystem: Resolve = async (host) =>
  (await lookup(host, { all: true, order: 'verbatim' })).map(({ address }) => address);

export class Gate {
  readonly #allow: AllowList;
  readonly #resolve: Resolve;
  readonly #hostCharsMax: number;

  constructor(allow: AllowList, resolve: Resolve, hostCharsMax: number) {
    this.#allow = allow;
    this.#resolve = resolve;
    this.#hostCharsMax = hostCharsMax;
  }

  /** By name alone: what a request asks for, or why it may not. */
  admit(text: string, defaultPort?: number): (Authority & { port: number }) | EgressRefusal {
    const asked = parseAuthority(text, this.#hostCharsMax);
    if (typeof asked === 'string') return deny(text, 0, asked, 'write the host in its plain spelling');
    const port = asked.port ?? defaultPort;
    if (port === undefined) return deny(asked.host, 0, 'it has no port', 'ask for host:port');
    if (!this.#allow.allows(asked.host, asked.isAddress, port))
      return deny(
        asked.host,
        port,
        'scope.network does not name it',
        `to allow it, add "${entryFor(asked.host, port)}" to scope.network`,
      );
    return { ...asked, port };
  }

  /** By address: everything an admitted host resolves to must be public or named. */
  async locate({ host, isAddress, port }: Authority & { port: number }): Promise<Target | EgressRefusal> {
    if (isAddress) return { host, port, addresses: [host] }; // the list names this very address
    const found = host === LOCALHOST ? LOCALHOST_ADDRESSES : await this.#lookUp(host);
    if (found === undefined || found.length === 0)
      return new EgressRefusal(
        502,
        `bosun: cannot reach ${formatAuthority(host, port)}: no address has that name`,
      );
    for (const address of found) {
      const what = whyNotPublic(address);
      const canonical = canonicalAddress(address);
      if (what === undefined || (canonical !== undefined && this.#allow.allows(canonical, true, port)))
        continue;
      return deny(
        host,
        port,
        `it resolves to ${printable(address)}, ${what}`,
        `to allow it, add "${entryFor(printable(address), port)}" to scope.network`,
      );
    }
    return { host, port, addresses: found };
  }

  async #lookUp(host: string): Promise<string[] | undefined> {
    try {
      return await this.#resolve(host);
    } catch {
      return undefined;
    }
  }
}

/** `host` may be anything that was asked for, so it is made fit to be shown. */
export function deny(host: string, port: number, why: string, remedy: string): EgressRefusal {
  const shown = printable(host);
  const where = port === 0 ? shown : formatAuthority(shown, port);
  return new EgressRefusal(403, `bosun: ${where} is denied: ${why}; ${remedy}`, { host: shown, port, why });
}

function printable(text: string): string {
  return text.slice(0, SHOWN_CHARS_MAX).replaceAll(/[^\x21-\x7e]/g, '?');
}
