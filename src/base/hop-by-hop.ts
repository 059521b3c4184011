/** Headers that mean the one connection they came on: whoever passes a request on keeps them to himself. */
export const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'expect', // it was answered where it came in
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const NONE: ReadonlySet<string> = new Set();

/** `connection: x-a, x-b` makes those two belong to the connection as well. */
export function namedByConnection(connection: string | undefined): ReadonlySet<string> {
  // What most requests have: it names nothing that is not above.
  if (connection === undefined || connection === 'keep-alive') return NONE;
  const names = connection.toLowerCase().split(',');
  return new Set(names.map((name) => name.trim()));
}
