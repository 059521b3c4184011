/** `--usd`: what a run may cost. */
import { BosunError } from '../../contract/errors.ts';
import { textOf, type Typed } from './command.ts';

export function usdOf(typed: Typed): { usd: number } | undefined {
  const text = textOf(typed, 'usd');
  if (text === undefined) return undefined;
  const usd = Number(text);
  if (usd > 0 && Number.isFinite(usd)) return { usd };
  throw new BosunError('usage', `--usd must be a number above 0, such as 2.50, not "${text}"`);
}
