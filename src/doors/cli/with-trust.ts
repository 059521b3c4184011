/** Asks a person in a terminal whether to trust what a workflow asks for. What was asked is remembered by others. */
import { BosunError } from '../../contract/errors.ts';
import { showAsked, untrusted } from '../../operations/trust.ts';
import { spellControls } from '../../report/text/plain.ts';
import { confirm } from './confirm.ts';
import { ask } from './ask.ts';
import { isForeground } from './foreground.ts';
import { hasColor, painter, writeError } from './output.ts';

/** Does it; where it needs trust and a person is there, asks and does it again. */
export async function withTrust<T>(act: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await act();
    } catch (error) {
      const refused = untrusted(error);
      if (refused === undefined || !canAsk()) throw error;
      await agree(refused);
    }
  }
}

/** Remembers a yes; throws at a no. */
export async function agree({ source, asked }: { source: string; asked: string[] }): Promise<void> {
  const paint = painter(hasColor(process.stderr));
  writeError(`${paint('strong', spellControls(source))} asks for more than this repository:\n`);
  for (const line of showAsked(asked)) writeError(`  ${paint('ask', line)}\n`);
  if (!(await confirm('Trust it with this, now and from now on? [y/N] ')))
    throw new BosunError('not-trusted', `nothing was started: you do not trust ${spellControls(source)}`);
  await ask('trust', { asked });
}

/** Whether somebody sits at the keys. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY && isForeground();
}
