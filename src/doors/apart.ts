/** Whether this process was started to drive a run apart from whoever asked for it. It is read once, and left to nobody. */
import { ACTOR_KINDS, type Actor } from '../contract/actor.ts';

export const DETACHED = 'BOSUN_DETACHED';
export const ASKED_BY = 'BOSUN_ASKED_BY';
export const MORE_INPUT = 'BOSUN_MORE_INPUT';

/** Somebody waits to hear which run that is. */
export const isApart = process.env[DETACHED] === '1';
/** Who asked, where it is not the user that this process belongs to. */
export const apartActor = isApart ? readActor(process.env[ASKED_BY]) : undefined;
const hasMoreInput = isApart && process.env[MORE_INPUT] === '1';
// Nothing that it starts is, or was asked for by them.
delete process.env[DETACHED];
delete process.env[ASKED_BY];
delete process.env[MORE_INPUT];

/** What of its input stands in no command line, where every user of the machine can read it, and no more than fits. */
export async function moreInput(): Promise<object> {
  if (!hasMoreInput) return {};
  const { text } = await import('node:stream/consumers');
  return JSON.parse(await text(process.stdin)) as object;
}

function readActor(text: string | undefined): Actor | undefined {
  if (text === undefined) return undefined;
  const { kind, name } = JSON.parse(text) as Actor;
  return ACTOR_KINDS.includes(kind) ? { kind, ...(name !== undefined && { name }) } : undefined;
}
