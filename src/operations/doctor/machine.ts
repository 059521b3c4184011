/** What the machine has of the programs and the space that bosun needs. It looks; it changes nothing. */
import { accessSync, constants, existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import path from 'node:path';
import { capture, findProgram } from '../../system/process/process.ts';
import { inspectRepository } from '../../system/git/repository.ts';
import type { Finding } from './finding.ts';

const NODE_MAJOR_MIN = 24;
const DISK_BYTES_MIN = 1024 ** 3;
const BUILD = path.resolve(import.meta.dirname, '../../../build');
const NATIVE = ['launch', 'grant', 'opaque'];

export function checkNode(): Finding {
  const isEnough = Number.parseInt(process.versions.node, 10) >= NODE_MAJOR_MIN;
  const found = `${process.versions.node} (${process.execPath})`;
  return {
    name: 'node',
    level: isEnough ? 'ok' : 'fail',
    found,
    ...(!isEnough && { advice: `install Node ${NODE_MAJOR_MIN} or newer` }),
  };
}

export async function checkGit(): Promise<Finding> {
  const advice = 'install git 2.38 or newer';
  try {
    const { stdout } = await capture(['git', 'version']);
    const found = stdout.toString().trim().replace('git version ', '');
    const [major = 0, minor = 0] = found.split('.').map((part) => Number.parseInt(part, 10));
    const isEnough = major > 2 || (major === 2 && minor >= 38);
    return { name: 'git', level: isEnough ? 'ok' : 'fail', found, ...(!isEnough && { advice }) };
  } catch {
    return { name: 'git', level: 'fail', found: 'not there', advice };
  }
}

export async function checkRepository(cwd: string): Promise<{ finding: Finding; top?: string }> {
  const name = 'repository';
  try {
    const repository = await inspectRepository(cwd);
    const isDirty = (await repository.changed('all')).length > 0;
    const facts = [
      repository.branch === undefined ? 'detached HEAD' : `on ${repository.branch}`,
      ...(isDirty
        ? ['with uncommitted changes (a run works from the last commit; --dirty includes them)']
        : []),
      ...(repository.shallow ? ['shallow'] : []),
      ...(repository.submodules ? ['with submodules (empty in workspaces)'] : []),
    ];
    return {
      finding: { name, level: 'ok', found: `${repository.top}, ${facts.join(', ')}` },
      top: repository.top,
    };
  } catch (error) {
    return {
      finding: {
        name,
        level: 'warn',
        found: (error as Error).message,
        advice: 'run bosun inside a git repository with a commit',
      },
    };
  }
}

export async function checkDisk(directory: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(directory);
  const freeBytes = bavail * bsize;
  const found = `${(freeBytes / 1024 ** 3).toFixed(1)} GB free at ${directory}`;
  if (freeBytes >= DISK_BYTES_MIN) return { name: 'disk', level: 'ok', found };
  return { name: 'disk', level: 'warn', found, advice: 'free some space: bosun workspaces clean' };
}

export async function checkTar(): Promise<Finding> {
  const program = findProgram('tar');
  if (program === undefined) return { name: 'tar', level: 'warn', found: 'not there', advice: 'install tar' };
  const { stdout } = await capture([program, '--help']);
  const hasXattrs = stdout.includes('--xattrs');
  if (hasXattrs) return { name: 'tar', level: 'ok', found: `${program}, keeps extended attributes` };
  return { name: 'tar', level: 'warn', found: `${program} has no --xattrs`, advice: 'install GNU tar' };
}

/** The way to allowed hosts goes through it. */
export function checkSocat(): Finding {
  const found = findProgram('socat');
  if (found !== undefined) return { name: 'socat', level: 'ok', found };
  return {
    name: 'socat',
    level: 'warn',
    found: 'not there: tasks whose scope names hosts cannot start',
    advice: 'install the package socat',
  };
}

/** Small programs of ours, built at install: by a script, which npm may be told to skip. */
export function checkNative(): Finding {
  const missing = NATIVE.filter((name) => !existsSync(path.join(BUILD, name)));
  if (missing.length === 0) return { name: 'native', level: 'ok', found: `${NATIVE.join(', ')}: built` };
  const hasCompiler = findProgram('cc') !== undefined;
  const why = hasCompiler ? 'npm skipped the install script, or it failed' : 'there is no C compiler';
  return {
    name: 'native',
    level: 'warn',
    found: `not built: ${missing.join(', ')} (${why}); starts are slower, and no grant reaches a running command`,
    advice: buildAdvice(hasCompiler),
  };
}

export function buildAdvice(hasCompiler = findProgram('cc') !== undefined): string {
  const script = path.join(BUILD, '../scripts/build-native.sh');
  const build = `${isOurs(path.dirname(BUILD)) ? '' : 'sudo '}sh ${script}`;
  return hasCompiler ? `run: ${build}` : `install a C compiler (gcc and libc6-dev), then run: ${build}`;
}

function isOurs(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
