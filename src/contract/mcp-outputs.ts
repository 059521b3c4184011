/** What starting a run apart gives, and what adding bosun to the settings of agents gives: schemas, as in outputs.ts. */
import { z } from 'zod';
import { count, flag, opt, text, texts, unit } from './schema-parts.ts';

/** A budget that a run went past. */
export const overrun = z.strictObject({
  account: text,
  unit,
  spent: count,
  limit: count,
  raisedTo: count,
  atMs: count,
});

/** A run that a process of its own drives. */
export const Started = z.strictObject({
  run: text,
  /** It was started before, with the same key. */
  isRepeated: flag,
  /** What a person should know of it. */
  notes: texts,
});
export type Started = z.output<typeof Started>;

export const McpEntries = z.strictObject({
  /** What the entries start, before `mcp`. */
  command: text,
  entries: z.array(
    z.strictObject({
      client: text,
      file: text,
      /** `kept`: it was there already. `left`: the file was not touched. */
      did: z.enum(['written', 'kept', 'left']),
      why: opt(text),
      /** For who adds it by hand. */
      entry: text,
    }),
  ),
});
export type McpEntries = z.output<typeof McpEntries>;
