/**
 * What can be said of a valid workflow before it runs: who owns which files, what it asks for, which of its globs match
 * nothing, what cannot be run yet. Of a large one it is found out in a thread: nobody else waits for it.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { inThread, ThreadFailure } from '../base/in-thread.ts';
import type { Workflow } from '../contract/workflow.ts';
import { listedFiles } from '../system/git/repository.ts';
import { ownership, type Owner } from './check/ownership.ts';
import { reachOf } from './reach.ts';
import { warnAboutGlobs } from './check/warn-about-globs.ts';
import { throwProblems } from './source/problem.ts';

export interface Examined {
  /** Which files belong to which tasks, as written; empty where no task declares a write scope. */
  owners: Owner[];
  /** What it asks for beyond the repository, a line each. */
  asks: string[];
  /** Globs that match nothing. */
  globWarnings: string[];
}

interface Question {
  workflow: Workflow;
  /** The top of the repository, or where there is none the directory in its place. */
  top: string;
  /** The files of the last commit, as git lists them; absent where nothing is asked about them. */
  listing: Uint8Array | undefined;
}

const EXAMINE_MS_MAX = 30_000;
const EXAMINE_MEMORY_MB_MAX = 1024;
/** Of a listing: some 10,000 files. */
const LISTING_BYTES_MAX = 1024 * 1024;

/** `file` is what messages call the workflow. */
export async function examine(question: Question, file: string, isLarge: boolean): Promise<Examined> {
  if (!isLarge && (question.listing?.length ?? 0) <= LISTING_BYTES_MAX) return examined(question);
  try {
    return await askThread(question);
  } catch (error) {
    if (!(error instanceof ThreadFailure)) throw error;
    const message = `cannot be checked: ${error.message}; split the work into several workflows`;
    return throwProblems([{ file, path: '', message }]);
  }
}

const askThread = inThread(
  import.meta.url,
  { msMax: EXAMINE_MS_MAX, memoryMbMax: EXAMINE_MEMORY_MB_MAX },
  examined,
);

function examined({ workflow, top, listing }: Question): Examined {
  const isThere = (name: string): boolean => existsSync(join(top, name));
  return {
    owners: ownership(workflow).owners,
    asks: reachOf(workflow, top),
    globWarnings: listing ? warnAboutGlobs(workflow, listedFiles(listing), isThere) : [],
  };
}
