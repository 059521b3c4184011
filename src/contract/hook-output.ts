/** What `hooks` gives: those in force, in the order in which they are called. */
import { z } from 'zod';
import { HOOK_MOMENTS, type HookMoment } from './hook.ts';
import { count, flag, text } from './schema-parts.ts';

export const Hooks = z.array(
  z.strictObject({
    name: text,
    /** The file that it is written in. */
    from: text,
    on: z.array(z.enum(Object.keys(HOOK_MOMENTS) as [HookMoment, ...HookMoment[]])),
    what: text,
    timeoutMs: count,
    /** False for one of a workflow that still needs `bosun trust`. */
    isTrusted: flag,
  }),
);
