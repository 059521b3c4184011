/**
 * Which pages a browser may show the server to: none but its own. A page of another site can make a browser send
 * requests here, and a name that it owns can lead here (rebinding), so that Host and Origin are held against the names
 * that this server has. It looks at no token.
 */
import { HttpProblem } from './problem.ts';
import { SOCKET, type Call } from './call.ts';

/** Of loopback, which no other machine can send from; a port goes behind each. */
const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];
/** What a browser says of requests that a person made, or a page of our own. */
const SITES = ['same-origin', 'none'];

export class Guard {
  /** As `Host` has them, in small letters. */
  readonly #hosts: ReadonlySet<string>;
  readonly #origins: ReadonlySet<string>;

  /** It listens on `host`; a proxy reaches it under the others, such as `bosun.example.com`. */
  constructor(host: string, port: number, proxied: readonly string[]) {
    const own = [...LOOPBACK, host.toLowerCase()].map((name) => `${name}:${port}`);
    const others = proxied.map((name) => name.toLowerCase());
    this.#hosts = new Set([...own, ...others]);
    this.#origins = new Set([
      ...own.map((host) => `http://${host}`),
      ...others.flatMap((host) => [`https://${host}`, `http://${host}`]),
    ]);
  }

  /** Throws what a stranger's page could have sent. The page itself may be linked to: it brings nothing of anybody's. */
  check(call: Call, { isPage = false }: { isPage?: boolean } = {}): void {
    const { headers } = call;
    if (call.countOf('host') !== 1 || !this.#isOurs(headers.host, call.from))
      throw new HttpProblem(
        421,
        'not-trusted',
        `this server is not called ${shown(headers.host)}; use one of its own names, or start it with --allow-host`,
      );
    if (isPage && headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document')
      return;
    if (call.countOf('origin') > 1 || !this.#isOwnPage(headers.origin, headers['sec-fetch-site']))
      throw new HttpProblem(
        403,
        'not-trusted',
        `pages of ${shown(headers.origin ?? headers['sec-fetch-site'])} may not use this server`,
      );
  }

  #isOurs(host: string | undefined, from: string): boolean {
    if (host === undefined) return false;
    const name = host.toLowerCase();
    // Nobody is led to a socket by a name.
    return from === SOCKET ? LOOPBACK.includes(name.replace(/:\d+$/, '')) : this.#hosts.has(name);
  }

  #isOwnPage(origin: string | undefined, site: string | string[] | undefined): boolean {
    if (site !== undefined && !(typeof site === 'string' && SITES.includes(site))) return false;
    return origin === undefined || this.#origins.has(origin.toLowerCase());
  }
}

const SHOWN_CHARS_MAX = 100;

function shown(name: string | string[] | undefined): string {
  return JSON.stringify(String(name ?? '').slice(0, SHOWN_CHARS_MAX));
}
