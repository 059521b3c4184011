/** Whether a host's name, as `URL` gives it, is this machine under every resolver: what is sent there leaves it never. */
import { isIPv4 } from 'node:net';

export function isLoopback(hostname: string): boolean {
  if (isIPv4(hostname)) return hostname.startsWith('127.');
  return hostname === 'localhost' || hostname === '[::1]';
}
