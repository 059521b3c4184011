/** Leaves a run in the queue in place of driving it: its id is the data. What concerns one engine is not kept. */
import { BosunError } from '../../contract/errors.ts';
import type { OutputOf } from '../../contract/operations.ts';
import type { Typed } from './command.ts';
import { say, writeOut } from './output.ts';
import { withTrust } from './with-trust.ts';

const WHY = {
  detach: 'a queued run is driven by bosun work; use one of them',
  unfenced: 'runs without fences are never recorded for later; start it without --queue',
  record: 'a cassette belongs to the process that drives the run; start it without --queue',
  replay: 'a cassette belongs to the process that drives the run; start it without --queue',
  timing: 'a cassette belongs to the process that drives the run; start it without --queue',
  json: 'nothing happens yet; see what does with: bosun work --json',
} as const;

export async function leave({ options }: Typed, queue: () => Promise<OutputOf<'queue'>>): Promise<number> {
  for (const [name, why] of Object.entries(WHY))
    if (options[name] !== undefined)
      throw new BosunError('usage', `--${name} and --queue do not go together: ${why}`);
  const { id, notes } = await withTrust(queue);
  for (const note of notes) say(`note: ${note}`);
  writeOut(`${id}\n`);
  return 0;
}
