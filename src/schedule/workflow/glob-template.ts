/** What can be told of a glob with an expression in it without evaluating that: `bosun status` loads no expressions. */

export function isTemplate(glob: string): boolean {
  return glob.includes('${{');
}

/** All that it may come to name, while its items are not known. */
export function templateBound(glob: string): string {
  const start = glob.slice(0, glob.indexOf('${{'));
  return `${start.slice(0, start.lastIndexOf('/') + 1)}**`;
}
