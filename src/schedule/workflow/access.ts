/** What a request for access says of the change that is wanted. Pure. */
import type { AccessRequest, State } from '../state.ts';
import { textOf } from './said.ts';

/** Undefined where it names files alone. */
export function patchOf(state: State, { patch, patchRef }: AccessRequest): string | undefined {
  return patchRef ? textOf(state.read(patchRef)) : patch;
}
