/** The directory that all of some absolute paths lie in. */
export function directoryOfAll(paths: readonly string[]): string {
  const all = paths.map((file) => file.split('/'));
  const first = all[0]!;
  let depth = 0;
  while (depth < first.length - 1 && all.every((parts) => parts[depth] === first[depth])) depth += 1;
  return first.slice(0, depth).join('/') || '/';
}
