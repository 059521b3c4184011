/** Finds out which tasks changed given files without the task in question knowing of it. */
import type { EngineGit } from '../system/git/engine-git.ts';
import { TASK_TRAILER } from './message.ts';

const FILES_ASKED_MAX = 500;
const FORMAT = `--format=%(trailers:key=${TASK_TRAILER},valueonly)`;
const LOG = ['log', '--no-renames', '--no-merges', '--full-history', '--reverse', FORMAT];

export interface Touched {
  base: string;
  shadow: string;
  head: string;
  result: string;
  files: readonly string[];
}

export async function tasksThatTouched(
  git: EngineGit,
  { base, shadow, head, result, files }: Touched,
): Promise<string[]> {
  if (files.length === 0) return [];
  const tasks = async (...range: string[]): Promise<string[]> => {
    const log = await git.text([
      '--literal-pathspecs',
      ...LOG,
      ...range,
      '--',
      ...files.slice(0, FILES_ASKED_MAX),
    ]);
    return [...new Set(log.split('\n').filter((line) => line !== ''))];
  };
  // the private history knows what the task started from; snapshots without trailers leave it to the branch
  const unknown = await tasks(shadow, `^${result}`, `^${base}`);
  return unknown.length > 0 ? unknown : tasks(head, `^${base}`);
}
