/** What an agent hears of what it published. Types only. */

/** A publisher's files at one moment. */
export interface PublishedFiles {
  commit: string;
  changedCount: number;
  /** How many files its scope does not allow: they are not among those. */
  outsideCount: number;
}

export interface PublishAnswer {
  name: string;
  version: number;
  /** Otherwise that version has this value and these files already. */
  isNew: boolean;
  /** Files that differ from what the publisher started from. */
  changedCount: number;
  outsideCount: number;
  /** Tasks that can start now, or could before. */
  waiters: string[];
}
