/** What a command may see, write, reach and use: drawn by surroundings.ts, held by a launcher. */

export interface Fence {
  /** Where the workspace is shown inside; its own path where this is not said. */
  at?: string;
  /** Directories of the workspace that may be written, relative to it; '' is all of it. */
  write: string[];
  /** Entries below those that stay read-only, relative to the workspace. */
  keep: string[];
  /** Directories that are read-only now and may be opened while the command runs, relative to the workspace. */
  grantable: string[];
  /** What of the workspace shows nothing, relative to it; a directory ends with a slash. */
  mask: string[];
  /** Directories of the workspace that are to look empty to whoever enters them, relative to it. */
  empty?: string[];
  /** Directories and files of the machine that can be read, at the same path. */
  read: string[];
  /** Directories within those that look empty, but for what else is shown there. */
  hidden?: string[];
  /** Directories of the machine that can be written, at the same path: the attempt's own files. */
  own: string[];
  /** The directory with the attempt's own sockets; inside it is /run/bosun. */
  sockets?: string;
  /** Whether a proxy to allowed hosts listens at `egress.sock` among the sockets. */
  egress: boolean;
  /** Whether the gateway to models listens at `gateway.sock` among them. */
  gateway?: boolean;
  limits: FenceLimits;
}

/** All optional: what is not given is not limited, but for the defaults of the launcher. */
export interface FenceLimits {
  memoryBytes?: number;
  processes?: number;
  /** Cores, such as 0.5 or 2. */
  cpu?: number;
  diskBytes?: number;
  openFiles?: number;
}

/** A limit that was reached; the tree was ended because of it. */
export interface Breach {
  limit: 'memory' | 'processes' | 'cpu' | 'disk' | 'open files';
  /** One sentence for people: what was allowed and what was seen. */
  message: string;
}
