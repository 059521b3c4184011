/** Takes a key out of what a provider says about a request: some repeat it. */

const STAND_IN = Buffer.from('[key]');

export function withoutSecret(text: Buffer, secret: string): Buffer {
  const wanted = Buffer.from(secret);
  const parts: Buffer[] = [];
  let from = 0;
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, from)) {
    parts.push(text.subarray(from, at), STAND_IN);
    from = at + wanted.length;
  }
  return parts.length === 0 ? text : Buffer.concat([...parts, text.subarray(from)]);
}
