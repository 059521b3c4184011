/** What an agent hears when it asks to change more of the repository, and what an owner hears of it. Types and limits only. */
import type { ValueRef } from './event.ts';
import type { Take } from './produced.ts';

/** Of a diff that says what is wanted. */
export const PATCH_BYTES_MAX = 64 * 1024;

/** `applied`: an owner has made the change in its own files, so that the write is not needed. */
export type AccessWord = 'yes' | 'no' | 'applied';

export interface AccessAnswer {
  granted: boolean;
  /** An owner has made the change itself: it comes with that one's result. */
  applied?: true;
  why: string;
  /** What may be changed now; with a no, what was asked for. */
  globs: string[];
}

/** A request that an owner is asked about. */
export interface PendingAccess {
  id: string;
  /** The task whose agent asks. */
  task: string;
  globs: string[];
  /** What it would change: a diff that was checked. */
  patch?: string;
}

/** The diff of a request, and the files that it changes. */
export interface WantedPatch {
  patch: string;
  files: PatchedFile[];
}

export interface PatchedFile {
  path: string;
  change: 'added' | 'modified' | 'deleted';
}

/** Whether an owner's answer counted. */
export interface OwnerSaid {
  accepted: boolean;
  why: string;
  /** What the owner's command has to apply first, inside its own fence. */
  take?: Take;
}

export type AccessFact =
  /** The agent asks to change more of the repository than its scope says. */
  | {
      type: 'access.requested';
      task: string;
      attempt: number;
      id: string;
      globs: string[];
      /** What it would change there: a diff. */
      patch?: string;
      patchRef?: ValueRef;
    }
  /** What the agent of an owner that was asked says. */
  | {
      type: 'access.said';
      task: string;
      attempt: number;
      id: string;
      owner: string;
      answer: AccessWord;
    }
  /** Not all owners that were asked have said something in time. */
  | { type: 'access.unanswered'; task: string; attempt: number; id: string };
