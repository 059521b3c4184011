/** What a child may see, write and reach: what its agent may, as far as its parent may too. Pure. */
import { parseGlob } from '../../base/glob-syntax.ts';
import { covers } from '../../base/globs.ts';
import type { Scope } from '../../contract/workflow.ts';

/** Fields that nothing is said of are as the parent has them; a write scope that is too wide is a problem, in words. */
export function childScope(own: Scope, parent: Scope): { scope: Scope } | { problem: string } {
  const { write, shared = [], network = [], read = [], hide = [], grant } = own;
  const wider = parent.write && [...(write ?? []), ...shared].find((glob) => !isWithin(glob, parent));
  if (wider !== undefined)
    return {
      problem: `"${wider}" is more than its parent may change (${parent.write!.join(', ') || 'nothing'}); say with "write" what the child may change`,
    };
  const mayWrite = write ?? parent.write;
  // A list grants by itself, whoever asks, and an owner without a person; who may never ask has no child that may.
  const isWider =
    Array.isArray(grant) || parent.grant === 'never' || (grant === 'owner' && parent.grant !== 'owner');
  const granted = grant === undefined || isWider ? (parent.grant ?? (isWider ? 'ask' : undefined)) : grant;
  const env = Object.entries(own.env ?? {}).filter(([name, value]) => parent.env?.[name] === value);
  const hidden = [...new Set([...(parent.hide ?? []), ...hide])];
  return {
    scope: {
      ...own,
      ...(own.env && { env: Object.fromEntries(env) }),
      ...(mayWrite && { write: mayWrite }),
      network: network.filter((host) => parent.network?.includes(host)),
      read: read.filter((file) => parent.read?.includes(file)),
      ...(hidden.length > 0 && { hide: hidden }),
      ...(granted !== undefined && { grant: granted }),
    },
  };
}

function isWithin(glob: string, { write = [], shared = [] }: Scope): boolean {
  const parsed = parseGlob(glob);
  return [...write, ...shared].some((each) => covers(parseGlob(each), parsed));
}
