/** What a child may see, write and reach: what its agent may, as far as its parent may too. Pure. */
import { parseGlob } from '../../base/glob-syntax.ts';
import { narrow } from '../../base/globs.ts';
import type { Scope } from '../../contract/workflow.ts';

/**
 * Of `own`, what is within `parent`; a write scope that is too wide is a problem, in words. Every field that could give
 * something is there: what settles the conflicts of the child brings none of its own.
 */
export function childScope(own: Scope, parent: Scope): { scope: Scope } | { problem: string } {
  const { network = [], read = [], hide = [] } = own;
  const write = within(own.write ?? parent.write ?? [], parent);
  const shared = within(own.shared ?? [], parent);
  const wider = write.beyond ?? shared.beyond;
  if (wider !== undefined)
    return {
      problem: `"${wider}" is more than its parent may change (${parent.write!.join(', ') || 'nothing'}); say with "write" what the child may change`,
    };
  return {
    scope: {
      ...((own.write ?? parent.write) && { write: write.granted! }),
      shared: shared.granted!,
      network: network.filter((host) => parent.network?.includes(host)),
      read: read.filter((file) => parent.read?.includes(file)),
      hide: [...new Set([...(parent.hide ?? []), ...hide])],
      // Its parent's check needs these, and its parent could tell it all of them.
      env: parent.env ?? {},
      grant: grantWithin(own.grant, parent.grant),
    },
  };
}

function within(globs: readonly string[], { write, shared = [] }: Scope): ReturnType<typeof narrow> {
  if (write === undefined) return { granted: [...globs] };
  return narrow([...write, ...shared], globs.map(parseGlob));
}

/** A list grants by itself, whoever asks, and an owner without a person; who may never ask has no child that may. */
function grantWithin(own: Scope['grant'], parent: Scope['grant']): NonNullable<Scope['grant']> {
  if (own === undefined || parent === 'never') return parent ?? 'ask';
  const isWider = Array.isArray(own) || (own === 'owner' && parent !== 'owner');
  return isWider ? (parent ?? 'ask') : own;
}
