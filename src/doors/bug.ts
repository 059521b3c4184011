/** A mistake in bosun itself: says so in one line, and keeps the rest in a file. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** The line for people. */
export function keepDetails(error: unknown): string {
  const said = error instanceof Error ? error.message : String(error);
  const first = said.split('\n', 1)[0]!.slice(0, 300);
  try {
    const file = path.join(mkdtempSync(path.join(tmpdir(), 'bosun-bug-')), 'details.txt');
    const details = error instanceof Error ? `${error.stack ?? said}\n${causesOf(error)}` : said;
    writeFileSync(
      file,
      `node ${process.version} ${process.platform}\nbosun ${process.argv.slice(2, 3).join('')}\n${details}\n`,
    );
    return `this should not have happened: ${first} (a bug in bosun; details in ${file})`;
  } catch {
    return `this should not have happened: ${first} (a bug in bosun)`;
  }
}

function causesOf(error: Error): string {
  const lines: string[] = [];
  for (let at: unknown = error.cause, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    lines.push(`caused by ${at.stack ?? at.message}`);
  }
  return lines.join('\n');
}
