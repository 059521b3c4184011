/** Reads what a program wrote of its login. Nothing of a text that is something else ever stands in an error. */
import type { z } from 'zod';

export function parseLogin<T>(schema: z.ZodType<T>, text: string): T | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
