/** What the page of `bosun serve` weighs on its way to a browser, and what it may weigh. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';

export const PAGE_KB_MAX = 130;

/** All files of the built page, each compressed by itself. */
export function pageKb(directory: string): number {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const bytes = files.map(
    ({ parentPath, name }) => gzipSync(readFileSync(path.join(parentPath, name)), { level: 9 }).length,
  );
  return bytes.reduce((sum, each) => sum + each, 0) / 1000;
}
