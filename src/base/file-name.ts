/** Names of ours as names of files: different names stay different, and none is too long for a file system. */
const CHARS_MAX = 80;

export function fileName(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9._@-]+/g, '-');
  if (plain === name && name.length <= CHARS_MAX) return name;
  // Loaded only here: it takes longer to load than all else that `status` needs.
  const { createHash } = process.getBuiltinModule('node:crypto');
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 8);
  return `${plain.slice(0, CHARS_MAX - 9)}-${hash}`;
}
