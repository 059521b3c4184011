/** What of this machine every sandbox shows, read-only: the system's programs and libraries. Never a secret of anybody's. */
import { isWithin } from '../../base/is-within.ts';
import { lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs';

/** Read-only stores that whole systems are built from, where there are any. */
const STORES = ['/nix/store', '/gnu/store'];
const ROOT_NAMES = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32'];

let system: string[] | undefined;

/** Options of bwrap; the same for every sandbox of this process. */
export function systemMounts(): string[] {
  system ??= [
    '--ro-bind',
    '/usr',
    '/usr',
    ...ROOT_NAMES.flatMap((name) => {
      const at = `/${name}`;
      const stat = lstatSync(at, { throwIfNoEntry: false });
      if (stat?.isSymbolicLink()) return ['--symlink', readlinkSync(at), at];
      return stat?.isDirectory() ? ['--ro-bind', at, at] : [];
    }),
    ...STORES.flatMap(shown),
  ];
  return system;
}

export function isSystem(file: string): boolean {
  return /^\/(usr|bin|sbin|lib(32|64|x32)?|nix\/store|gnu\/store)(\/|$)/.test(file);
}

function shown(file: string): string[] {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (stat === undefined) return [];
  // A link is shown as what it leads to: its target may lie in what is not shown.
  return statSync(file, { throwIfNoEntry: false }) ? ['--ro-bind', realpathSync(file), file] : [];
}

/** Leaves out what lies below another. */
export function outermost(paths: string[]): string[] {
  const kept: string[] = [];
  for (const file of [...new Set(paths)].sort((a, b) => a.length - b.length)) {
    if (!kept.some((other) => isWithin(other, file))) kept.push(file);
  }
  return kept.sort();
}
