/** Where a key or another secret is found; what it is never stands in a configuration. */
import { z } from 'zod';

const KEY_MESSAGE =
  'must be where the key is found, never the key itself: { env: NAME }, { command: [program, argument] } or { file: path }';

/** Where a key is found; the key itself is never written into a configuration. */
export const KeySource = z.union(
  [
    z.strictObject({ env: z.string().regex(/^[A-Za-z_]\w*$/, 'must be the name of a variable') }),
    z.strictObject({
      command: z
        .union([z.string().min(1), z.array(z.string()).min(1)], 'must be a command or a list of its words')
        .describe('Prints the key. A string goes to the shell, a list is started as it is.'),
    }),
    z.strictObject({ file: z.string().regex(/^(\/|~\/)/, 'must be an absolute path, or begin with ~/') }),
  ],
  KEY_MESSAGE,
);

export type KeySource = z.output<typeof KeySource>;
