/** Takes a key out of what a provider says about a request: some repeat it. It holds back at most the key's length. */

const STAND_IN = Buffer.from('[key]');

export async function* withoutSecret(
  body: AsyncIterable<Buffer>,
  secret: string,
): AsyncGenerator<Buffer, void, void> {
  const wanted = Buffer.from(secret);
  let held: Buffer = Buffer.alloc(0);
  for await (const chunk of body) {
    const text = replaceAll(held.length > 0 ? Buffer.concat([held, chunk]) : chunk, wanted);
    const tail = startAtEnd(text, wanted);
    held = text.subarray(text.length - tail);
    if (text.length > tail) yield text.subarray(0, text.length - tail);
  }
  if (held.length > 0) yield held;
}

function replaceAll(text: Buffer, wanted: Buffer): Buffer {
  const parts: Buffer[] = [];
  let from = 0;
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, from)) {
    parts.push(text.subarray(from, at), STAND_IN);
    from = at + wanted.length;
  }
  return parts.length === 0 ? text : Buffer.concat([...parts, text.subarray(from)]);
}

/** How many bytes at the end could be the beginning of what is wanted. */
function startAtEnd(text: Buffer, wanted: Buffer): number {
  for (let length = Math.min(text.length, wanted.length - 1); length > 0; length--)
    if (text.subarray(text.length - length).equals(wanted.subarray(0, length))) return length;
  return 0;
}
