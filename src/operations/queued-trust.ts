/** The word of trust that a queued run carries in its journal: only this user's, for this run of this repository. */
import type { Queued } from '../contract/run-origin.ts';
import type { Json, Workflow } from '../contract/workflow.ts';
import { canonicalText } from '../run/own-seal.ts';
import { isSealed, seal } from '../store/queue-seal.ts';
import { trustedPlace } from '../system/files/trusted-place.ts';

interface Meant {
  id: string;
  workflow: Workflow;
  inputs: Readonly<Record<string, Json>>;
}

export function sealTrust(cwd: string, run: Meant): string {
  return seal(meantText(cwd, run));
}

/** True where this user said so; undefined where nobody did, or a journal from elsewhere says it. */
export function trustOf(cwd: string, run: Meant & { pending?: Queued | undefined }): true | undefined {
  const trusted = run.pending?.trusted;
  if (trustedPlace(cwd)?.problem !== undefined) return undefined;
  return typeof trusted === 'string' && isSealed(meantText(cwd, run), trusted) ? true : undefined;
}

function meantText(cwd: string, { id, workflow, inputs }: Meant): string {
  return canonicalText([trustedPlace(cwd)?.directory ?? '', id, workflow, inputs]);
}
