/** Leads requests for `NAME.bosun` to a service of the run. What may be reached is said by whoever finds it; no name is looked up. */
import type { Socket } from 'node:net';
import { serviceOf, SERVICE_NAME_RULE } from '../contract/services.ts';
import { dialRelay, type Unreached } from '../system/net/dial-relay.ts';
import { formatAuthority, parseAuthority } from './authority.ts';
import { deny, EgressRefusal } from './gate.ts';

const HTTP_PORT = 80;

/** Where a service is, or why it cannot be reached; with a remedy where that is a matter of scopes. */
export type FoundService =
  { socketPath: string; port: number; of: string } | { why: string; remedy?: string };
export type FindService = (name: string) => FoundService;

interface Asked {
  host: string;
  isAddress: false;
  port: number;
  service: { socketPath: string; port: number; of: string };
}

export class ServicesDoor {
  readonly #find: FindService;
  readonly #connectionsMax: number;
  #open = 0;

  constructor(find: FindService | undefined, connectionsMax: number) {
    this.#find = find ?? (() => ({ why: 'there are no services here' }));
    this.#connectionsMax = connectionsMax;
  }

  /** Undefined for what is about no service. */
  admit(text: string, defaultPort?: number): Asked | EgressRefusal | undefined {
    const asked = parseAuthority(text);
    const name = typeof asked === 'string' || asked.isAddress ? undefined : serviceOf(asked.host);
    if (typeof asked === 'string' || name === undefined) return undefined;
    const { host, port = defaultPort ?? 0 } = asked;
    if (name === '') return deny(host, port, 'that is not a service name', SERVICE_NAME_RULE);
    const found = this.#find(name);
    if ('why' in found)
      return found.remedy === undefined
        ? new EgressRefusal(502, `bosun: cannot reach ${host}: ${found.why}`)
        : deny(host, port, found.why, found.remedy);
    if (port !== HTTP_PORT && port !== found.port)
      return new EgressRefusal(
        502,
        `bosun: cannot reach ${formatAuthority(host, port)}: ${found.of} serves its port ${found.port} under that name; ask for ${host} or ${formatAuthority(host, found.port)}`,
      );
    return { host, isAddress: false, port, service: found };
  }

  async reach({ host, service }: Asked, signal: AbortSignal): Promise<Socket | EgressRefusal> {
    const most = this.#connectionsMax;
    if (this.#open >= most)
      return new EgressRefusal(503, `bosun: more than ${most} connections to services; close some first`);
    this.#open += 1;
    const socket = await dialRelay(service.socketPath, signal);
    if (typeof socket === 'string') {
      this.#open -= 1;
      const { status, tell } = UNREACHED[socket];
      const why = tell(`port ${service.port} of ${service.of}`);
      return new EgressRefusal(status, `bosun: cannot reach ${host}: ${why}`);
    }
    socket.once('close', () => (this.#open -= 1));
    return socket;
  }
}

const UNREACHED: Record<Unreached, { status: number; tell(port: string): string }> = {
  'nobody-listens': { status: 502, tell: (port) => `nothing listens on ${port} now` },
  'too-many': { status: 503, tell: (port) => `${port} has too many connections; try again later` },
  'no-answer': { status: 504, tell: (port) => `${port} takes no connection in time` },
  gone: { status: 502, tell: (port) => `${port} is not served any more` },
};
