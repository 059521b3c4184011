/** What tasks produced, as other agents of the run may read it. Types only. */
import type { Json } from './workflow.ts';

/** What there is of one task, or of a publication; it becomes files where somebody asks for it. */
export interface Produced {
  /** As people call it; `api:` before the name of a publication. */
  name: string;
  /** Of the directory that its files get; the same for the same thing. */
  place: string;
  state: string;
  output?: Json;
  summary: string;
  /** Commits, or refs, between which lies what it changed. */
  diff?: { from: string; to: string };
  /** The directory with its artifacts. */
  artifacts?: string;
}

/** The same as files that an agent can read, named by their paths. */
export interface ProducedFiles {
  name: string;
  state: string;
  /** How many files it changed, of those that the reader may see. */
  changedCount: number;
  files: string[];
  /** What was left out, and why. */
  notes: string[];
}

export interface Outputs {
  produced: ProducedFiles[];
  /** Names of those for which there was no room. */
  more: string[];
}

/** A patch that an agent may apply to its own files; its command does that, inside the fence. */
export interface Take {
  name: string;
  /** Where the agent works, and the patch, as it sees them. */
  workspace: string;
  patch: string;
  /** What the patch changes. */
  paths: string[];
  /** What came of it, once the command has tried: why not, where it does not apply. */
  isApplied?: boolean;
  why?: string;
}
