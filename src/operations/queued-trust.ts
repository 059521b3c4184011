/** The word of trust that a queued run carries in its journal: only this user's, for this run of this repository. */
import type { Queued } from '../contract/run-origin.ts';
import type { Json, Workflow } from '../contract/workflow.ts';
import { isSealed, seal } from '../store/queue-seal.ts';
import { trustedPlace } from '../system/files/trusted-place.ts';

interface Meant {
  id: string;
  workflow: Workflow;
  inputs: Readonly<Record<string, Json>>;
}

export function sealTrust(cwd: string, run: Meant): string {
  return seal(textOf(cwd, run));
}

/** True where this user said so; undefined where nobody did, or a journal from elsewhere says it. */
export function trustOf(cwd: string, run: Meant & { pending?: Queued | undefined }): true | undefined {
  const trusted = run.pending?.trusted;
  if (trustedPlace(cwd)?.problem !== undefined) return undefined;
  return typeof trusted === 'string' && isSealed(textOf(cwd, run), trusted) ? true : undefined;
}

function textOf(cwd: string, { id, workflow, inputs }: Meant): string {
  return JSON.stringify(sorted([trustedPlace(cwd)?.directory ?? '', id, workflow, inputs]));
}

/** A journal gives back the same fields, in whatever order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).filter(([, each]) => each !== undefined);
  return fields.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, each]) => [name, sorted(each)]);
}
