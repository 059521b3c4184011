/** Which bosun this is. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { PACKAGE } from './package-directory.ts';

export function ownVersion(): string {
  const text = readFileSync(path.join(PACKAGE, 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
