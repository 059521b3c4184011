/** `bosun retry` */
import { moreInput } from '../../apart.ts';
import { ask, inputOf } from '../ask.ts';
import type { Typed } from '../command.ts';
import { watch } from '../watch.ts';

export async function run(typed: Typed): Promise<number> {
  const input = { ...inputOf('retry', typed), ...(await moreInput()) };
  return watch(typed, (seen) => ask('retry', input, { seen }), { earlier: input });
}
