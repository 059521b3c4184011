/** One POST to an address that the user named: no redirects, and of the answer only its status. It never retries. */
import https from 'node:https';
import { isLoopback } from '../base/is-loopback.ts';
import { BosunError } from '../contract/errors.ts';
import { Agent, request as plainRequest } from '../system/net/http.ts';

/** Nobody reads it: it is enough to see that there is one. */
const HEADER_BYTES_MAX = 16 * 1024;

export interface Letter {
  url: string;
  headers: Record<string, string>;
  body: string;
  /** Where proxies are named. */
  env: NodeJS.ProcessEnv;
}

/** Resolves with the status; rejects where there is none. The address stands in no message: it may be a secret. */
export function post({ url, headers, body, env }: Letter, signal: AbortSignal): Promise<number> {
  const { protocol, hostname } = new URL(url);
  const isSecure = protocol === 'https:';
  const { HTTP_PROXY, HTTPS_PROXY, NO_PROXY, http_proxy, https_proxy, no_proxy } = env;
  const proxies = { HTTP_PROXY, HTTPS_PROXY, NO_PROXY, http_proxy, https_proxy, no_proxy };
  const options = { keepAlive: false, ...(!isLoopback(hostname) && { proxyEnv: proxies }) };
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error);
    const request = (isSecure ? https.request : plainRequest)(url, {
      method: 'POST',
      agent: isSecure ? new https.Agent(options) : new Agent(options),
      maxHeaderSize: HEADER_BYTES_MAX,
      headers: { 'user-agent': 'bosun', 'content-length': Buffer.byteLength(body), ...headers },
    });
    const abort = (): void => void request.destroy(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
    request.once('close', () => signal.removeEventListener('abort', abort));
    request.on('error', (error: NodeJS.ErrnoException) => {
      if (signal.aborted) return reject(signal.reason as Error);
      const why = error.code ?? 'the connection broke';
      reject(new BosunError('system', `${hostname} cannot be reached (${why})`));
    });
    request.once('response', (response) => {
      resolve(response.statusCode ?? 0);
      response.on('error', () => {});
      request.destroy();
    });
    request.end(body);
  });
}
