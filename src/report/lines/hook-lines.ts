/** What hooks did, in words for people. Whoever prints it makes it harmless. */
import type { EventOf } from '../../contract/event.ts';
import { spellHook } from '../../contract/hook.ts';
import { inOneLine } from '../text/plain.ts';
import { count } from '../words.ts';

export function tellHooked({ hook, veto, env = [], prompt }: EventOf<'attempt.hooked'>): string {
  if (veto !== undefined) return `${spellHook(hook)} vetoed it: ${inOneLine(veto)}`;
  const added = [
    ...(env.length > 0 ? [`${count(env.length, 'variable')} (${env.join(', ')})`] : []),
    ...(prompt === undefined ? [] : ['to the prompt']),
  ];
  return `${spellHook(hook)} added ${added.join(', and ')}`;
}

export function tellHookFailure({ hook, moment, about, why }: EventOf<'hook.failed'>): string {
  const of = about === undefined ? '' : ` of ${about}`;
  return `${spellHook(hook)} (${moment}${of}) failed, which changes nothing: ${inOneLine(why)}`;
}
