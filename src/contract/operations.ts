/**
 * The table of operations: what can be asked of bosun, by whom, and what comes of it. Every door follows it: the
 * commands and the library today, HTTP, MCP and RPC later. It does nothing itself: what does is in `operations/`. It
 * imports nothing that takes time to load, since each command starts with it.
 */
import type { z } from 'zod';
import type { ErrorCode } from './errors.ts';
import type { InputValue } from './input-schema.ts';
import type { OutputSchemas } from './operation.ts';
import { ON_ITS_OWN } from './operation-start.ts';
import { ON_MACHINE } from './operations-on-machine.ts';
import { ON_RECORDS } from './operations-on-records.ts';
import { ON_REMOTES } from './operations-on-remotes.ts';
import { ON_RUNS } from './operations-on-runs.ts';
import { ON_SERVING } from './operations-on-serving.ts';
import { TO_LOOK } from './operations-to-look.ts';

export const OPERATIONS = {
  ...ON_RUNS,
  ...TO_LOOK,
  ...ON_ITS_OWN,
  ...ON_MACHINE,
  ...ON_REMOTES,
  ...ON_SERVING,
  ...ON_RECORDS,
};

/** Any of them may end with these: the input is not as the table says, the journal or the machine failed. */
export const ERRORS_OF_ALL: readonly ErrorCode[] = ['usage', 'journal', 'system'];

export type OperationName = keyof typeof OPERATIONS;
export const OPERATION_NAMES = Object.keys(OPERATIONS) as OperationName[];

export type InputOf<Name extends OperationName> = InputValue<(typeof OPERATIONS)[Name]['input']>;
export type OutputOf<Name extends OperationName> = z.output<
  OutputSchemas[(typeof OPERATIONS)[Name]['output']]
>;

/** What an operation's function is handed besides its input. */
export interface Asking {
  /** In which repository. */
  cwd: string;
  /** Who asks, as journals spell it. */
  by: string;
  /** Ends the waiting; what is done by then stays done. */
  signal?: AbortSignal;
}

export type Asked<Name extends OperationName> = InputOf<Name> & Asking;
/** The same for a function that need not know who asks. */
export type Reading<Name extends OperationName> = Omit<Asked<Name>, 'by'>;
