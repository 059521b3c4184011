/** One thing that the doctor found out. Types only. */

export interface Finding {
  name: string;
  /** `fail`: something needed is missing, or a fence does not hold; `warn`: it works, but less well; `none`: not there, and need not be. */
  level: 'ok' | 'warn' | 'fail' | 'none';
  found: string;
  /** What to do about it. */
  advice?: string;
  /** Of an agent's runtime, for programs. */
  runtime?: RuntimeFacts;
}

export interface RuntimeFacts {
  isInstalled: boolean;
  program?: string;
  version?: string;
  /** Where its SDK lies, for a runtime that needs one. */
  sdk?: string;
  /** A file that its own login is in; nobody reads it. */
  login?: string;
  /** Where keys for models that it can speak to come from; never a key. */
  keys: string[];
}
