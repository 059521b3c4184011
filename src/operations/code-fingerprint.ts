/**
 * What a module and the files that it names are at this moment, as a short text: whoever agreed to run it agreed to
 * this. Packages are not part of it. It runs nothing.
 */
import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';

const FILES_MAX = 500;
const FILE_BYTES_MAX = 4 * 1024 * 1024;
const SHOWN_CHARS = 16;

/** `top` is where the files of the repository are: what lies beyond it no agent can change. */
export function codeFingerprint(file: string, top: string): string {
  const hash = createHash('sha256');
  const seen = new Set<string>();
  const waiting = [file, path.join(top, 'package.json')]; // which says what `#name` stands for
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    if (seen.has(next) || seen.size >= FILES_MAX) continue;
    seen.add(next);
    const text = readAt(next);
    hash.update(`${JSON.stringify([path.relative(top, next), text])}\n`);
    if (text === undefined) continue;
    for (const [, name] of text.matchAll(NAMED)) waiting.push(path.resolve(path.dirname(next), name!));
  }
  return hash.digest('hex').slice(0, SHOWN_CHARS);
}

/** Whatever stands in quotes and begins as the path of a file beside it does: imports, and what is read by name. */
const NAMED = /["'`](\.{1,2}\/[^"'`\n$]{1,500})["'`]/g;

function readAt(file: string): string | undefined {
  try {
    const stat = statSync(file, { throwIfNoEntry: false });
    if (!stat?.isFile() || stat.size > FILE_BYTES_MAX) return undefined;
    return readFileSync(file, 'latin1');
  } catch {
    return undefined;
  }
}
