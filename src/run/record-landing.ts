/**
 * Records in the journal what became of a run's work in the user's branch. It merges nothing: a landing hands in the
 * note, also one that was cut off before it was recorded.
 */
import { squashedRef } from '../collect/collect.ts';
import { isFields } from '../base/fields.ts';
import { parseJson } from '../base/parse-json.ts';
import { eventProblem } from '../contract/check-event.ts';
import { EVENT_FORMAT } from '../contract/event.ts';
import type { LandedFact } from '../contract/landed.ts';
import type { LandingRecord, WriteNote } from '../merge/landing.ts';
import type { Claim } from '../store/claims.ts';
import type { Store } from '../store/store.ts';
import type { EngineGit } from '../system/git/engine-git.ts';
import { noteAfterEnd } from './note-after-end.ts';

interface Note {
  run: string;
  fact: LandedFact;
}

/** For a landing of a run that its caller has claimed. */
export function landingRecord(git: EngineGit, store: Store, note: Note, claim: Claim): LandingRecord {
  return { note: JSON.stringify(note), write: (text) => write(git, store, text, claim) };
}

/** For a landing that was cut off. What its note says is believed as far as the journal agrees. */
export function recordLanding(openGit: () => Promise<EngineGit>, store: Store): WriteNote {
  return async (text) => {
    await using git = await openGit();
    return write(git, store, text);
  };
}

async function write(git: EngineGit, store: Store, text: string, claim?: Claim): Promise<boolean> {
  const found = parseJson(text);
  if (!isNote(found)) return true;
  const { run, fact } = found;
  const view = await store.run(run);
  if (!view) return true;
  const { landed } = view;
  const isRecorded =
    fact.type === 'run.landed' ? landed?.to === fact.to && landed.head === fact.head : landed === undefined;
  if (isRecorded) return true;
  // no branch of the user's has the run's own commits then
  if (fact.type === 'run.landed' && fact.kind === 'squashed')
    await git.updateRef(squashedRef(run, fact.head), fact.to);
  return noteAfterEnd(store, run, [fact], claim);
}

function isNote(value: unknown): value is Note {
  if (!isFields(value) || typeof value.run !== 'string' || !isFields(value.fact)) return false;
  const { type } = value.fact;
  if (type !== 'run.landed' && type !== 'run.unlanded') return false;
  return eventProblem(value.fact, EVENT_FORMAT) === undefined;
}
