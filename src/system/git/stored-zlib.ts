/** The zlib format (RFC 1950) with nothing compressed: for what would not get smaller, or not enough to wait for. */
const BLOCK_BYTES_MAX = 0xffff;
const ADLER_BASE = 65_521;
/** As many bytes as can be added up before the sums have to be cut down: they stay exact far beyond this. */
const ADLER_RUN = 4096;

export function storedZlib(content: Buffer): Buffer {
  const parts: Buffer[] = [Buffer.from([0x78, 0x01])];
  for (let from = 0; from === 0 || from < content.length; from += BLOCK_BYTES_MAX) {
    const block = content.subarray(from, from + BLOCK_BYTES_MAX);
    const head = Buffer.allocUnsafe(5);
    head.writeUInt8(from + BLOCK_BYTES_MAX >= content.length ? 1 : 0);
    head.writeUInt16LE(block.length, 1);
    head.writeUInt16LE(block.length ^ 0xffff, 3);
    parts.push(head, block);
  }
  const checksum = Buffer.allocUnsafe(4);
  checksum.writeUInt32BE(adler32(content));
  return Buffer.concat([...parts, checksum]);
}

function adler32(content: Buffer): number {
  let [low, high] = [1, 0];
  for (let from = 0; from < content.length; from += ADLER_RUN) {
    const to = Math.min(from + ADLER_RUN, content.length);
    for (let at = from; at < to; at += 1) {
      low += content[at]!;
      high += low;
    }
    low %= ADLER_BASE;
    high %= ADLER_BASE;
  }
  return high * 0x10000 + low;
}
