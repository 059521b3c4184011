/** Settles a conflicted merge by taking one side's version of every file in conflict, whole. */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { EngineGit } from '../system/git/engine-git.ts';
import { splitNul } from '../system/git/git.ts';
import type { MergeTree } from '../system/git/merge-tree.ts';
import { makeScratch } from '../system/files/scratch.ts';

/** Where one side has a file and the other a directory, git parks one of them under another name. */
const MOVED_ASIDE = /file\/directory|distinct/;

/** Gives the tree. `side` is the commit whose version counts. */
export async function resolveTree(
  git: EngineGit,
  merged: MergeTree,
  side: string,
  which: 'ours' | 'theirs',
): Promise<string> {
  const wanted = which === 'ours' ? 2 : 3;
  const aside = unique(
    merged.messages.filter(({ type }) => MOVED_ASIDE.test(type)).flatMap(({ paths }) => paths),
  );
  const asideKeys = new Set(aside.map(keyOf));
  const staged = merged.stages.filter((stage) => !asideKeys.has(keyOf(stage.path)));
  const lines: Buffer[] = [];
  for (const where of unique(staged.map((stage) => stage.path))) {
    lines.push(removal(where, merged.tree.length));
    const entry = staged.find((stage) => stage.stage === wanted && stage.path.equals(where));
    if (entry !== undefined) lines.push(addition(entry.mode, entry.oid, where));
  }
  if (aside.length > 0) {
    for (const entry of await listBelow(git, merged.tree, aside))
      lines.push(removal(entry.path, merged.tree.length));
    for (const entry of await listBelow(git, side, aside))
      lines.push(addition(entry.mode, entry.oid, entry.path));
  }
  return withIndex(git, async (env) => {
    await git.run(['read-tree', merged.tree], { env });
    await git.run(['update-index', '-z', '--index-info'], { env, input: Buffer.concat(lines) });
    return git.text(['write-tree'], { env });
  });
}

async function listBelow(
  git: EngineGit,
  tree: string,
  paths: Buffer[],
): Promise<{ mode: string; oid: string; path: Buffer }[]> {
  // ls-tree takes names as arguments, which cannot hold every byte, so all names are read and chosen here
  const { stdout } = await git.run(['ls-tree', '-r', '-z', '--full-tree', tree]);
  const wanted = paths.map(keyOf);
  return splitNul(stdout).flatMap((line) => {
    const tab = line.indexOf(9);
    const [mode, , oid] = line.subarray(0, tab).toString().split(' ') as [string, string, string];
    const name = line.subarray(tab + 1);
    const key = keyOf(name);
    return wanted.some((path) => key === path || key.startsWith(`${path}/`))
      ? [{ mode, oid, path: name }]
      : [];
  });
}

async function withIndex<T>(git: EngineGit, use: (env: Record<string, string>) => Promise<T>): Promise<T> {
  const directory = await makeScratch(git.repository.commonDir);
  try {
    return await use({ GIT_INDEX_FILE: path.join(directory, 'index') });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function addition(mode: string, oid: string, where: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${mode} ${oid}\t`), where, Buffer.from([0])]);
}

function removal(where: Buffer, oidChars: number): Buffer {
  return addition('0', '0'.repeat(oidChars), where);
}

function keyOf(name: Buffer): string {
  return name.toString('latin1');
}

function unique(names: Buffer[]): Buffer[] {
  return [...new Map(names.map((name) => [keyOf(name), name])).values()];
}
