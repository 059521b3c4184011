/** Who acts: a person, a program or an agent, by name; and how journals and messages spell that. */

export const ACTOR_KINDS = ['person', 'program', 'agent'] as const;
export type ActorKind = (typeof ACTOR_KINDS)[number];

export interface Actor {
  kind: ActorKind;
  /** A person's login, what a program calls itself, an agent's task. */
  name?: string;
}

const NAME_CHARS_MAX = 100;

/** What stands there where nobody acted: the engine's own reasons. Nobody's name may be taken for one. */
const REASONS = new Set(['budget', 'ended', 'left', 'owner', 'policy', 'scope', 'time-out']);

/** The `by` of an event: `anna`, `program deploy-bot`, `agent review`. Journals of earlier versions say `person`. */
export function spellActor({ kind, name = '' }: Actor): string {
  const plain = name.replaceAll(/[\s\p{C}]+/gu, '-').slice(0, NAME_CHARS_MAX);
  if (plain === '') return kind;
  const isPlain =
    kind === 'person' && !REASONS.has(plain) && !(ACTOR_KINDS as readonly string[]).includes(plain);
  return isPlain ? plain : `${kind} ${plain}`;
}

/** Whether a `by` names somebody, and not a reason of the engine's own; an owner is a task. */
export function isSomebody(by: string): boolean {
  return !REASONS.has(by) && !by.startsWith('owner ');
}
