/**
 * The git directory inside a base, which each workspace gets as its own: log, diff, status and commit work
 * there, and nobody else reads it. It borrows the engine's objects, or has its own where these tell too much, and
 * starts with a primed index.
 */
import { copyFile, mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { RAW_ATTRIBUTES, type EngineGit } from '../system/git/engine-git.ts';
import { git, gitLaunch, IDENTITY } from '../system/git/git.ts';

/** From here on it pays to wait for the next second, see `settleIndex`. */
const SETTLE_FILES_MIN = 1000;

/** Checks a commit out into `tree`, a new directory. `isFiltered`: nothing but this commit may be seen. */
export async function checkOut(
  engine: EngineGit,
  commit: string,
  tree: string,
  fileCount: number,
  isFiltered: boolean,
): Promise<void> {
  const directory = path.join(tree, '.git');
  const { repository } = engine;
  await mkdir(path.join(directory, 'objects', 'info'), { recursive: true });
  await mkdir(path.join(directory, 'info'), { recursive: true });
  await mkdir(path.join(directory, 'refs', 'heads'), { recursive: true });
  const excludes = await repository.excludes();
  await Promise.all([
    writeFile(path.join(directory, 'HEAD'), `ref: ${branchOf(engine)}\n`),
    writeFile(path.join(directory, 'config'), config(repository.objectFormat)),
    isFiltered ? pack(engine, tree, commit) : borrow(engine, tree),
    writeFile(path.join(directory, 'info', 'attributes'), RAW_ATTRIBUTES),
    writeFile(path.join(directory, 'info', 'exclude'), excludes.toReversed().join('\n')),
    ...(repository.shallow && !isFiltered
      ? [copyFile(path.join(engine.directory, 'shallow'), path.join(directory, 'shallow'))]
      : []),
  ]);
  await setHead(engine, tree, commit);
  await git(['-c', 'checkout.workers=0', 'read-tree', '-u', '--reset', commit], { cwd: tree });
  if (fileCount >= SETTLE_FILES_MIN) await settleIndex(path.join(directory, 'index'));
}

/** A checkout stays good when the repository is moved: only where it borrows from has to be said anew. */
export async function borrow(engine: EngineGit, tree: string): Promise<void> {
  const file = path.join(tree, '.git', 'objects', 'info', 'alternates');
  const line = `${path.join(engine.directory, 'objects')}\n`;
  const current = await readFile(file, 'utf8').catch(() => undefined);
  if (current !== line) await writeFile(file, line);
}

/**
 * Puts a commit and all that it reaches, but for what is in `known`, into the git directory of `tree`. Gives the
 * name of the pack.
 */
export async function pack(engine: EngineGit, tree: string, commit: string, known?: string): Promise<string> {
  const directory = path.join(tree, '.git', 'objects', 'pack');
  await mkdir(directory, { recursive: true });
  const input = `${commit}\n${known === undefined ? '' : `^${known}^{tree}\n`}`;
  // what is packed already is taken as it is: looking for smaller forms would cost more than it saves
  const args = ['pack-objects', '--quiet', '--revs', '--window=0', '--delta-base-offset'];
  return `pack-${await engine.text([...args, path.join(directory, 'pack')], { input })}`;
}

/** Takes away the packs that a copied git directory brought along. */
export async function keepPack(tree: string, name: string): Promise<void> {
  const directory = path.join(tree, '.git', 'objects', 'pack');
  const others = (await readdir(directory)).filter((file) => !file.startsWith(`${name}.`));
  await Promise.all(others.map((file) => rm(path.join(directory, file), { force: true })));
}

/** What moves a checked-out tree from one commit to another, at the cost of the difference. */
export function moveCheckout(from: string, to: string): ReturnType<typeof gitLaunch> {
  return gitLaunch(['read-tree', '-m', '-u', from, to]);
}

/** `tree` may be a layer that is laid over a checkout. */
export async function setHead(engine: EngineGit, tree: string, commit: string): Promise<void> {
  const file = path.join(tree, '.git', branchOf(engine));
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, `${commit}\n`);
}

function branchOf(engine: EngineGit): string {
  return `refs/heads/${engine.repository.branch ?? 'main'}`;
}

/**
 * git reads a file again if it changed in the second its index was written, which are all of them after a
 * checkout. One wait here saves every agent that reading.
 */
async function settleIndex(index: string): Promise<void> {
  const { mtimeMs } = await stat(index);
  await sleep(Math.max(0, (Math.floor(mtimeMs / 1000) + 1) * 1000 - Date.now()));
  const now = new Date();
  await utimes(index, now, now);
}

/** Only size and time in seconds say whether a file changed: inode numbers differ in every workspace. */
function config(objectFormat: string): string {
  return `[core]
	repositoryformatversion = ${objectFormat === 'sha1' ? 0 : 1}
	filemode = true
	bare = false
	checkStat = minimal
	trustctime = false
	hooksPath = /dev/null
	autocrlf = false
	fsmonitor = false
[commit]
	gpgSign = false
[tag]
	gpgSign = false
[user]
	name = ${IDENTITY.name}
	email = ${IDENTITY.email}
[gc]
	auto = 0
[maintenance]
	auto = false
${objectFormat === 'sha1' ? '' : `[extensions]\n\tobjectFormat = ${objectFormat}\n`}`;
}
