/** Finds out what this machine has of what bosun needs. It tries things; it changes nothing that stays. */
import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findHome } from '../home.ts';
import { chooseSandbox, type Sandbox } from '../sandbox/choose.ts';
import { capture, findProgram } from '../system/process.ts';
import { inspectRepository } from '../system/repository.ts';

export interface Finding {
  name: string;
  /** `fail`: something needed is missing; `warn`: it works, but less well. */
  level: 'ok' | 'warn' | 'fail';
  found: string;
  /** What to do about it. */
  advice?: string;
}

const NODE_MAJOR_MIN = 24;
const DISK_BYTES_MIN = 1024 ** 3;

export async function diagnose(options: { cwd: string }): Promise<Finding[]> {
  const repository = await checkRepository(options.cwd);
  const directory = findHome(options.cwd)?.directory ?? repository.top;
  const sandbox = await checkSandbox(directory);
  return [
    checkNode(),
    await checkGit(),
    repository.finding,
    ...sandbox,
    await checkDisk(directory ?? options.cwd),
    await checkTar(),
    ...checkFences(),
  ];
}

function checkNode(): Finding {
  const isEnough = Number.parseInt(process.versions.node, 10) >= NODE_MAJOR_MIN;
  const found = `${process.versions.node} (${process.execPath})`;
  return {
    name: 'node',
    level: isEnough ? 'ok' : 'fail',
    found,
    ...(!isEnough && { advice: `install Node ${NODE_MAJOR_MIN} or newer` }),
  };
}

async function checkGit(): Promise<Finding> {
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

async function checkRepository(cwd: string): Promise<{ finding: Finding; top?: string }> {
  const name = 'repository';
  try {
    const repository = await inspectRepository(cwd);
    const isDirty = await repository.dirty();
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

/** Tried where workspaces will lie; without a repository, or where that cannot be written, with temporary files. */
async function checkSandbox(directory: string | undefined): Promise<Finding[]> {
  const inPlace = directory && (await mkdtemp(path.join(directory, '.bosun-doctor-')).catch(() => undefined));
  const scratch = inPlace ?? (await mkdtemp(path.join(tmpdir(), 'bosun-doctor-')));
  try {
    const writable: Finding[] =
      directory === undefined || inPlace !== undefined
        ? []
        : [
            {
              name: 'writable',
              level: 'fail',
              found: `${directory} cannot be written`,
              advice: 'make it writable: bosun keeps its journal and workspaces in .bosun there',
            },
          ];
    return [...writable, ...findingsOf(await chooseSandbox(scratch), path.dirname(scratch))];
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

function findingsOf({ kind, overlay, notes }: Sandbox, where: string): Finding[] {
  const why = notes.join('; ');
  const hasNamespaces = kind === 'namespaces';
  return [
    hasNamespaces
      ? { name: 'namespaces', level: 'ok', found: 'every attempt gets a process tree of its own' }
      : {
          name: 'namespaces',
          level: 'warn',
          found: why,
          advice: 'install util-linux, and allow user namespaces on this machine or in this container',
        },
    overlay
      ? { name: 'overlay', level: 'ok', found: `workspaces cost only what they change (tried in ${where})` }
      : {
          name: 'overlay',
          level: 'warn',
          found: hasNamespaces ? why : 'needs namespaces; workspaces are full copies',
          advice: 'a file system that can hold layers (ext4, xfs, btrfs) makes workspaces quick and small',
        },
  ];
}

async function checkDisk(directory: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(directory);
  const freeBytes = bavail * bsize;
  const found = `${(freeBytes / 1024 ** 3).toFixed(1)} GB free at ${directory}`;
  if (freeBytes >= DISK_BYTES_MIN) return { name: 'disk', level: 'ok', found };
  return { name: 'disk', level: 'warn', found, advice: 'free some space: bosun workspaces clean' };
}

async function checkTar(): Promise<Finding> {
  const program = findProgram('tar');
  if (program === undefined) return { name: 'tar', level: 'warn', found: 'not there', advice: 'install tar' };
  const { stdout } = await capture([program, '--help']);
  const hasXattrs = stdout.includes('--xattrs');
  if (hasXattrs) return { name: 'tar', level: 'ok', found: `${program}, keeps extended attributes` };
  return { name: 'tar', level: 'warn', found: `${program} has no --xattrs`, advice: 'install GNU tar' };
}

/** What fences around agents will be made of; nothing that runs today needs it. */
function checkFences(): Finding[] {
  return ['bwrap', 'socat'].map((program): Finding => {
    const found = findProgram(program);
    const name = program === 'bwrap' ? 'bubblewrap' : program;
    if (found !== undefined) return { name, level: 'ok', found };
    return {
      name,
      level: 'warn',
      found: 'not there (not needed yet; fences around agents will be made with it)',
      advice: `install the package ${name}`,
    };
  });
}
