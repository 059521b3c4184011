/** Bytes as text that keeps every byte, for sets and maps: names of files need not be UTF-8. Never for people to read. */
export function bytesKey(bytes: Buffer): string {
  return bytes.toString('latin1');
}
