/**
 * Keeps alive what runs need of the user's objects, whatever `git gc` does to them later: packs and loose objects get
 * a second name in the engine's git directory, which costs no space and shows in no log of the user's. Where a pack of
 * the user's is gone, what only runs still need of it is packed anew, and the rest goes.
 */
import { linkSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { BosunError } from '../../contract/errors.ts';
import type { EngineGit } from './engine-git.ts';
import { gitInRepository } from './git.ts';
import { namesIn } from '../files/names-in.ts';

/** Beside the second name of a pack: git then leaves it as it is. */
const KEEP = '.keep';
const PACK = /^(pack-[0-9a-f]+)\.idx$/;
const PARTS = ['.pack', '.rev'];
/** When each directory of loose objects was last looked through. */
const LOOKED = 'held.json';
const MISSING_SHOWN_MAX = 3;

/** `base` is what a run starts from, or started from. */
export async function holdObjects(engine: EngineGit, base: string): Promise<void> {
  const theirs = path.join(engine.repository.commonDir, 'objects');
  const ours = path.join(engine.directory, 'objects');
  try {
    const isNew = await holdPacks(path.join(theirs, 'pack'), path.join(ours, 'pack'));
    await holdLoose(engine, theirs, ours);
    if (isNew) await engine.run(['prune-packed', '--quiet']); // loose ones that a held pack has
    await settle(engine, path.join(ours, 'pack'));
  } catch (error) {
    if (!isNoSecondName(error)) throw error;
    await copyBase(engine, path.join(ours, 'pack'), base);
  }
}

/** When objects were held last: another number than before where they were held again, or let go. */
export function heldMark({ directory }: EngineGit): number {
  return statSync(path.join(directory, LOOKED), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** Tells whether there was a new one. */
async function holdPacks(theirs: string, ours: string): Promise<boolean> {
  const held = new Set(namesIn(ours));
  let isNew = false;
  for (const name of namesIn(theirs).flatMap((file) => PACK.exec(file)?.[1] ?? [])) {
    if (held.has(`${name}.idx`)) continue;
    await writeFile(path.join(ours, `${name}${KEEP}`), 'bosun: the pack of the repository\n');
    // the index last: with it git knows the pack; one that a gc has just taken away is no loss
    const isThere = PARTS.every((part) => secondName(theirs, ours, `${name}${part}`) || part !== '.pack');
    if (isThere) isNew = secondName(theirs, ours, `${name}.idx`) || isNew;
  }
  return isNew;
}

async function holdLoose(engine: EngineGit, theirs: string, ours: string): Promise<void> {
  const file = path.join(engine.directory, LOOKED);
  const looked = readLooked(file);
  for (const fan of namesIn(theirs).filter((name) => /^[0-9a-f]{2}$/.test(name))) {
    const { mtimeMs } = statSync(path.join(theirs, fan));
    if (looked[fan] === mtimeMs) continue;
    await mkdir(path.join(ours, fan), { recursive: true });
    for (const name of namesIn(path.join(theirs, fan)))
      if (/^[0-9a-f]{38,62}$/.test(name)) secondName(path.join(theirs, fan), path.join(ours, fan), name);
    looked[fan] = mtimeMs;
    await nextTurn(); // there may be many
  }
  writeFileSync(file, JSON.stringify(looked));
}

/** Of packs that the user's repository has no more, all that runs need and no branch of the user's has. */
async function settle(engine: EngineGit, ours: string): Promise<void> {
  const gone = namesIn(ours)
    .filter((name) => name.endsWith(KEEP))
    .map((name) => name.slice(0, -KEEP.length))
    .filter((name) => statSync(path.join(ours, `${name}.pack`), { throwIfNoEntry: false })?.nlink === 1);
  if (gone.length === 0) return;
  const { top, head } = engine.repository;
  const theirs = await gitInRepository(['for-each-ref', '--format=%(objectname)'], { cwd: top });
  const own = await engine.text(['for-each-ref', '--format=%(objectname)']);
  for (const name of gone) await rm(path.join(ours, `${name}${KEEP}`));
  const args = ['pack-objects', '--quiet', '--revs', '--honor-pack-keep', '--delta-base-offset'];
  const input = `${own}\n--not\n${head}\n${theirs.stdout.toString()}`;
  const packed = await engine.run([...args, path.join(ours, 'pack')], { input, codes: [0, 128] });
  // what could not be told apart is kept whole
  if (packed.code !== 0)
    for (const name of gone) await writeFile(path.join(ours, `${name}${KEEP}`), 'bosun\n');
  else
    for (const name of gone)
      for (const part of ['.idx', ...PARTS]) await rm(path.join(ours, `${name}${part}`), { force: true });
}

/** On another file system, or where there are no hard links: the files of the base alone, without its history. */
async function copyBase(engine: EngineGit, ours: string, base: string): Promise<void> {
  if (engine.hasRef(`refs/held/${base}`)) return;
  const listed = await engine.run(['rev-list', '--objects', '--no-object-names', '--no-walk', base]);
  await engine.run(['pack-objects', '--quiet', '--window=0', path.join(ours, 'pack')], {
    input: listed.stdout,
  });
  await engine.updateRef(`refs/held/${base}`, base);
}

/** Before objects are swept: what no run of these bases needs may go, and what goes is to be held anew. */
export async function forgetHeld(engine: EngineGit, bases: ReadonlySet<string>): Promise<void> {
  await rm(path.join(engine.directory, LOOKED), { force: true });
  const held = (await engine.text(['for-each-ref', '--format=%(refname)', 'refs/held'])).split('\n');
  const idle = held.filter((ref) => ref !== '' && !bases.has(path.posix.basename(ref)));
  if (idle.length > 0) await engine.removeRefs(idle);
}

/** What a run starts from is not all there: about that run, whatever else this machine can do. */
export class LacksObjects extends BosunError {
  constructor(message: string) {
    super('system', message);
  }
}

/** Refuses to work from a commit that is not all there, and says how to get the rest. */
export async function requireObjects(engine: EngineGit, commit: string, whose: string): Promise<void> {
  const short = commit.slice(0, 8);
  const { top, commonDir } = engine.repository;
  if ((await engine.revParse(`${commit}^{tree}`)) === undefined)
    throw new LacksObjects(
      `commit ${short}, which ${whose} started from, is gone from ${top}: git gc removes what no branch has; get it back from a clone that has it (git fetch <its path> ${commit}), then try again`,
    );
  if (!namesIn(path.join(commonDir, 'objects', 'pack')).some((name) => name.endsWith('.promisor'))) return;
  const args = ['rev-list', '--objects', '--missing=print', '--no-walk', commit];
  const missing = (await engine.text(args)).split('\n').filter((line) => line.startsWith('?'));
  if (missing.length === 0) return;
  const shown = missing.slice(0, MISSING_SHOWN_MAX).map((line) => line.slice(1, 9));
  throw new LacksObjects(
    `${top} is a partial clone that lacks ${missing.length} files of commit ${short} (${shown.join(', ')}${missing.length > shown.length ? ', …' : ''}), and bosun fetches nothing itself: get them with git fetch --refetch --no-filter, then try again`,
  );
}

/** False where there is no such file any more. */
function secondName(from: string, to: string, name: string): boolean {
  try {
    linkSync(path.join(from, name), path.join(to, name));
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return true;
    if (code === 'ENOENT') return false;
    throw error;
  }
}

function isNoSecondName(error: unknown): boolean {
  return ['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP', 'ENOSYS'].includes(
    (error as NodeJS.ErrnoException).code ?? '',
  );
}

function readLooked(file: string): Record<string, number> {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Record<string, number>;
  } catch {
    return {};
  }
}
