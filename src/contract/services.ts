/** Services: ports of agents' sandboxes that others of their run reach by name. Names, types and limits only. */

/** What their names end in: `web.bosun`. It is asked of no name server, whoever allows it. */
export const SERVICE_DOMAIN = 'bosun';

/** At once, of one attempt and of a run; and how often one attempt may announce any. */
export const SERVICES_PER_ATTEMPT_MAX = 16;
export const SERVICES_PER_RUN_MAX = 256;
export const ANNOUNCEMENTS_MAX = 100;

/** One part of a host's name, as everybody reads it alike. */
const NAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** For messages. */
export const SERVICE_NAME_RULE = 'use a-z, 0-9 and -, at most 63 characters, such as "web"';

/** A service that is there. */
export interface Service {
  name: string;
  port: number;
}

export interface ServeAnswer extends Service {
  url: string;
  /** Otherwise the same port has this name already. */
  isNew: boolean;
  /** Whether a program listens on the port now. */
  isListening: boolean;
}

/** What came of ending one. */
export interface ServiceEnded {
  name: string;
  hasEnded: true;
}

export function isServiceName(text: string): boolean {
  return NAME.test(text);
}

export function hostOf(name: string): string {
  return `${name}.${SERVICE_DOMAIN}`;
}

/** The name of the service that a host is about; '' where it can be none, undefined where it is about no service. */
export function serviceOf(host: string): string | undefined {
  if (host === SERVICE_DOMAIN) return '';
  if (!host.endsWith(`.${SERVICE_DOMAIN}`)) return undefined;
  const name = host.slice(0, -SERVICE_DOMAIN.length - 1);
  return isServiceName(name) ? name : '';
}

/** Whether the entries of a scope name it. */
export function isServiceNamed(name: string, network: readonly string[]): boolean {
  return network.some((entry) => {
    const host = entry.toLowerCase();
    return host === hostOf(name) || host === `*.${SERVICE_DOMAIN}`;
  });
}
