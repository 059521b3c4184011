/** One path that an attempt changed. Paths are bytes: a file name need not be UTF-8. */
export type Change =
  | { kind: 'file'; path: Buffer; source: Buffer; mode: '100644' | '100755'; size: number; isNew: boolean }
  | { kind: 'symlink'; path: Buffer; target: Buffer; isNew: boolean }
  /** A file, or a directory with all that the base has in it. Comes before whatever replaces it. */
  | { kind: 'delete'; path: Buffer; wasDirectory?: boolean }
  /** Something no commit can hold; `why` is for people. */
  | { kind: 'refused'; path: Buffer; why: string };
