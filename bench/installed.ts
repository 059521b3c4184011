/** The package as npm packs it, unpacked and with what it needs beside it: what people start, not this checkout. */
import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { scratch } from './scratch.ts';

const ROOT = path.join(import.meta.dirname, '..');
let installed: string | undefined;

/** The command `bosun`; made once for all benches of a process. */
export function installedBosun(): string {
  if (installed === undefined) {
    const directory = scratch('installed');
    const quiet = { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] as ['ignore', 'ignore', 'inherit'] };
    execFileSync('npm', ['pack', '--silent', '--pack-destination', directory], quiet);
    const tarball = readdirSync(directory).find((name) => name.endsWith('.tgz'))!;
    execFileSync('tar', ['-xzf', tarball, '--strip-components=1'], { ...quiet, cwd: directory });
    cpSync(path.join(ROOT, 'build'), path.join(directory, 'build'), { recursive: true });
    symlinkSync(path.join(ROOT, 'node_modules'), path.join(directory, 'node_modules'));
    installed = path.join(directory, 'bin', 'bosun');
  }
  return installed;
}
