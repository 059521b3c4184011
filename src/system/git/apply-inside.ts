/**
 * Applies a patch to an agent's files, whole or not at all. The only code that runs git inside a workspace: it is the
 * agent's own command, within its fence, with no more rights than the agent has. The engine never calls it.
 */
import { lstat, mkdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { git } from './git.ts';

/** Why it does not apply; undefined where it is applied. */
export async function applyInside(
  workspace: string,
  patch: string,
  paths: readonly string[],
): Promise<string | undefined> {
  const options = { cwd: workspace, codes: [0, 1, 128] };
  const args = ['-c', 'core.autocrlf=false', 'apply', '--whitespace=nowarn'];
  const fits = await git([...args, '--check', patch], options);
  if (fits.code !== 0) return reasonOf(fits.stderr);
  const counted = await git([...args, '--numstat', '-z', patch], options);
  const strange = pathsIn(counted.stdout.toString()).find((file) => !paths.includes(file));
  if (strange !== undefined)
    return `it would change ${strange}, which is not among the files that were checked`;
  const before = await Promise.all(paths.map((file) => remember(workspace, file)));
  const applied = await git([...args, patch], options);
  if (applied.code === 0) return undefined;
  for (const restore of before) await restore();
  return reasonOf(applied.stderr);
}

/** A file that could not be written, on a full disk say, must not leave the others changed. */
async function remember(workspace: string, file: string): Promise<() => Promise<void>> {
  const at = path.join(workspace, file);
  const facts = await lstat(at).catch(() => undefined);
  if (!facts) return () => rm(at, { force: true });
  if (facts.isSymbolicLink()) {
    const target = await readlink(at);
    return async () => {
      await rm(at, { force: true });
      await symlink(target, at);
    };
  }
  const content = facts.isFile() ? await readFile(at) : undefined;
  return async () => {
    if (!content) return;
    await mkdir(path.dirname(at), { recursive: true });
    await rm(at, { force: true });
    await writeFile(at, content, { mode: facts.mode });
  };
}

/** Counts and a path each; of a file that is renamed, the new path comes alone. */
function pathsIn(stdout: string): string[] {
  return stdout
    .split('\0')
    .filter(Boolean)
    .map((entry) => entry.split('\t').slice(2).join('\t'))
    .filter(Boolean);
}

function reasonOf(stderr: string): string {
  const lines = stderr.split('\n').map((line) => line.replace(/^error: /, '').trim());
  return lines.filter(Boolean).slice(0, 5).join('; ').slice(0, 1000) || 'git could not apply it';
}
