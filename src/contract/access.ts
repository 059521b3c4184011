/** What an agent hears when it asks to change more of the repository, and what an owner hears of it. Types only. */

export interface AccessAnswer {
  granted: boolean;
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
}

/** Whether an owner's answer counted. */
export interface OwnerSaid {
  accepted: boolean;
  why: string;
}
