/** What became of a run's work in the user's branch: it landed there, or was taken out again. Types only. */

/** A merge into the user's branch. */
export interface LandedAs {
  kind: 'fast-forward' | 'merged' | 'squashed';
  /** Where the branch was, and where the merge left it. */
  from: string;
  to: string;
  /** The user's branch; absent on a detached HEAD. */
  branch?: string;
  /** The head of the run's branch, all of which landed. */
  head: string;
  by: string;
}

export type LandedFact =
  /** The run's work is in the user's branch. */
  | ({ type: 'run.landed' } & LandedAs)
  /** Its merge was undone: the branch is where it was. */
  | { type: 'run.unlanded'; from: string; to: string; branch?: string; by: string };
