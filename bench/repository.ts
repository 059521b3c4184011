/** Makes git repositories of a given number of files, quickly, and keeps them for the process. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { run } from './command.ts';
import { scratch } from './scratch.ts';

const FILE_BYTES = 2048;
const FILES_PER_DIRECTORY = 50;

/** Git as benches use it: nobody's configuration, an identity, no garbage collection in the background. */
export const GIT_ENVIRONMENT: NodeJS.ProcessEnv = {
  ...process.env,
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'gc.auto',
  GIT_CONFIG_VALUE_0: '0',
  GIT_AUTHOR_NAME: 'bench',
  GIT_AUTHOR_EMAIL: 'bench@localhost',
  GIT_COMMITTER_NAME: 'bench',
  GIT_COMMITTER_EMAIL: 'bench@localhost',
};

export function git(cwd: string, ...args: string[]): Promise<string> {
  return run(['git', ...args], { cwd, env: GIT_ENVIRONMENT });
}

const made = new Map<number, Promise<string>>();

/** A repository with one commit of `fileCount` files, checked out. The same one for the same count. */
export function repositoryOf(fileCount: number): Promise<string> {
  let repository = made.get(fileCount);
  if (repository === undefined) made.set(fileCount, (repository = makeRepository(fileCount)));
  return repository;
}

/** A repository that nobody else gets. */
export async function makeRepository(fileCount: number): Promise<string> {
  const directory = scratch(`repository-${fileCount}`);
  await git(directory, 'init', '-q', '-b', 'main');
  // In pieces: what this process holds in memory makes every start of another one dearer, and those are measured.
  const child = spawn('git', ['fast-import', '--quiet', '--done'], {
    cwd: directory,
    env: GIT_ENVIRONMENT,
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  const ended = once(child, 'exit');
  await pipeline(Readable.from(importOf(fileCount)), child.stdin);
  await ended;
  await git(directory, 'reset', '-q', '--hard');
  return directory;
}

function* importOf(fileCount: number): Generator<Buffer> {
  yield Buffer.from('commit refs/heads/main\ncommitter bench <bench@localhost> 1 +0000\ndata 5\nStart\n');
  for (let index = 0; index < fileCount; index += 1) {
    const text = textOf(index);
    yield Buffer.from(`M 100644 inline ${fileName(index)}\ndata ${text.length}\n${text}\n`);
  }
  yield Buffer.from('done\n');
}

function textOf(index: number): string {
  const line = `export const value${index} = ${index};\n`;
  return line.repeat(Math.ceil(FILE_BYTES / line.length));
}

function fileName(index: number): string {
  const directory = Math.floor(index / FILES_PER_DIRECTORY);
  return `src/part-${directory % 100}/section-${Math.floor(directory / 100)}/file-${index}.ts`;
}

/**
 * A shell script that changes ten files which lie far apart, in the directory it runs in: seven edited, two new,
 * one gone. Each round takes other files.
 */
export function tenChanges(fileCount: number, round: number): string {
  const file = (nth: number): string => fileName(Math.floor((nth * fileCount) / 10) + round);
  const lines = [`rm ${file(9)}`];
  for (let nth = 0; nth < 7; nth += 1) lines.push(`echo '// round ${round}' >> ${file(nth)}`);
  for (let nth = 7; nth < 9; nth += 1)
    lines.push(`echo '// round ${round}' > ${path.dirname(file(nth))}/new-${round}.ts`);
  return lines.join(' && ');
}
