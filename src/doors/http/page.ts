/**
 * The page that people open and its assets, as `npm run build:web` made them: read and compressed once, when somebody
 * first asks. All of it is public, and the same for everybody; what it shows it has to ask for like any other program.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { PACKAGE } from '../../base/package-directory.ts';
import type { Call, Headers, Reply } from './call.ts';

const PAGE_DIRECTORY = path.join(PACKAGE, 'dist', 'web');
/** All addresses of the page are one document, which looks at the address itself. */
const PLACE = /^\/(?:new|compare|settings|r\/[^/]+\/[^/]+)?$/;
const ASSETS = '/assets/';
const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};
/** Also of each script: a worker has the policy that its own file came with. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  // Of the page itself, for the address of its worker.
  'trusted-types bosun',
].join('; ');
/** Less than this is not worth it. */
const COMPRESSED_BYTES_MIN = 1000;
const NOT_BUILT = 'The page is not built. In a checkout of bosun, run: npm run build:web\n';

interface Asset {
  headers: Headers;
  bytes: Buffer;
  gzipped?: Buffer;
}

export class Page {
  readonly #directory: string;
  #assets: ReadonlyMap<string, Asset> | undefined;

  constructor(directory: string = PAGE_DIRECTORY) {
    this.#directory = directory;
  }

  /** Undefined where this is no address of the page. */
  answer({ method, path, headers }: Call): Reply | undefined {
    const isPlace = PLACE.test(path);
    if (!isPlace && !path.startsWith(ASSETS)) return undefined;
    if (method !== 'GET' && method !== 'HEAD') return undefined;
    this.#assets ??= read(this.#directory);
    const asset = this.#assets.get(isPlace ? '/index.html' : path);
    if (!asset) return isPlace ? plain(503, NOT_BUILT) : plain(404, 'There is no such file.\n');
    const takesGzip = /\bgzip\b/.test(headers['accept-encoding'] ?? '');
    if (!takesGzip || !asset.gzipped) return { status: 200, headers: asset.headers, body: asset.bytes };
    return {
      status: 200,
      headers: { ...asset.headers, 'content-encoding': 'gzip' },
      body: asset.gzipped,
    };
  }
}

function read(directory: string): Map<string, Asset> {
  let names: string[];
  try {
    names = readdirSync(directory, { recursive: true }).map(String);
  } catch {
    return new Map();
  }
  const assets = new Map<string, Asset>();
  for (const name of names) {
    const type = TYPES[path.extname(name)];
    if (type === undefined) continue;
    const bytes = readFileSync(path.join(directory, name));
    const address = `/${name.split(path.sep).join('/')}`;
    // The name of an asset has the hash of what is in it.
    const isFixed = address.startsWith(ASSETS);
    const headers = {
      'content-type': type,
      'content-security-policy': POLICY,
      'cache-control': isFixed ? 'public, max-age=31536000, immutable' : 'no-cache',
      vary: 'accept-encoding',
    };
    const gzipped = bytes.length < COMPRESSED_BYTES_MIN ? {} : { gzipped: gzipSync(bytes, { level: 9 }) };
    assets.set(address, { headers, bytes, ...gzipped });
  }
  return assets;
}

function plain(status: number, body: string): Reply {
  return { status, headers: { 'content-type': 'text/plain; charset=utf-8' }, body };
}
