/** A tree of files as a command would see it, without its being mounted. */
export type EntryKind = 'directory' | 'file' | 'link' | 'other';

export interface Tree {
  /** Undefined where there is nothing. Links are not followed. */
  kindOf(path: string): EntryKind | undefined;
  list(directory: string): { name: string; kind: EntryKind }[];
}
