/** Where a run comes from that nobody started at once, or that another run led to. Types only. */

/** Who left a run to the next engine that looks, and what that one must know. */
export interface Queued {
  by: string;
  /**
   * The caller's word, for this start alone, for what the workflow asks for beyond its repository:
   * a seal of that user's, see queued-trust.ts. Journals of earlier versions say `true`, which counts for nothing.
   */
  trusted?: string | true;
  /** A seal of whoever queued it, see own-seal.ts: without that of the user whose engine looks it does not start by itself. */
  sealed?: string;
}

export interface Parent {
  run: string;
  task: string;
}
