/** `bosun wait` */
import { ask, inputOf } from '../ask.ts';
import { needLines } from '../../../report/text/asked-lines.ts';
import type { Typed } from '../command.ts';
import { exitOf } from '../exit-codes.ts';
import { say } from '../output.ts';

export async function run(typed: Typed): Promise<number> {
  const ended = await ask('wait', inputOf('wait', typed), {
    needsPerson: (run) => needLines(run, Date.now()).forEach((line) => say(line)),
  });
  for (const { id, state } of ended) say(`run ${id} is ${state}`);
  // Of several, that of the first that did not end well.
  return ended.map(exitOf).find((code) => code !== 0) ?? 0;
}
