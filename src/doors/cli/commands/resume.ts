/** `bosun resume` */
import { ask, inputOf } from '../ask.ts';
import type { Typed } from '../command.ts';
import { watch } from '../watch.ts';

export async function run(typed: Typed): Promise<number> {
  const input = inputOf('resume', typed);
  return watch(typed, (seen) => ask('resume', input, { seen }), { earlier: input });
}
