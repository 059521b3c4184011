/** Writes long journals quickly: the engine's own decisions and store, with nothing really run. */
import type { Decision, Event, Fact } from '../src/contract/event.ts';
import { WorkflowFile, type WorkflowSource } from '../src/contract/workflow.ts';
import { createRun } from '../src/run/create-run.ts';
import { loadRun } from '../src/run/load-run.ts';
import path from 'node:path';
import { createHome } from '../src/run/prepare-home.ts';
import { decide } from '../src/schedule/decide/decide.ts';
import { apply } from '../src/schedule/fold/fold.ts';
import { runView, taskView } from '../src/schedule/views/view.ts';
import { openSqliteStore } from '../src/store/sqlite.ts';
import { git } from './repository.ts';

const BATCH_EVENTS = 5000;

export type Start = Extract<Decision, { type: 'attempt.started' }>;

/** The journal of a run in which every attempt printed `lines` times and was done. Returns how many events it has. */
export async function writeJournal(repo: string, workflow: WorkflowSource, lines: number): Promise<number> {
  const { lastSeq } = await playJournal(repo, workflow, (start) => livesOf(start, lines));
  return lastSeq;
}

/** Of a run whose attempts live as `life` says, to their last event; one event comes `stepMs` after the other. */
export async function playJournal(
  repo: string,
  workflow: WorkflowSource,
  life: (start: Start) => Iterable<Fact>,
  stepMs = 0,
): Promise<{ id: string; lastSeq: number }> {
  const home = await createHome({ top: repo, commonDir: path.join(repo, '.git') });
  await using store = openSqliteStore(home.journal);
  const base = (await git(repo, 'rev-parse', 'HEAD')).trim();
  const run = { workflow: WorkflowFile.parse(workflow), source: 'bench', inputs: {}, base, dirty: false };
  let atMs = Date.now();
  const { id, claim } = await createRun(store, run, atMs);
  claim[Symbol.dispose](); // whoever is measured goes on with it
  let { state, lastSeq } = await loadRun(store, id);

  const facts: Fact[] = [];
  let events: { atMs: number; event: Event }[] = [];
  const commit = async (): Promise<void> => {
    lastSeq = await store.append(id, lastSeq, {
      entries: events,
      run: runView(state),
      tasks: [...state.nodes.values()].map((node) => taskView(node)),
      handled: [],
    });
    events = [];
  };
  for (let next = nextOf(); next; next = nextOf()) {
    atMs += stepMs;
    apply(state, next, atMs);
    events.push({ atMs, event: next });
    if (next.type === 'attempt.started') facts.push(...life(next));
    if (events.length >= BATCH_EVENTS) await commit();
  }
  await commit();
  return { id, lastSeq };

  function nextOf(): Event | undefined {
    return decide(state) ?? facts.shift();
  }
}

function* livesOf({ task, attempt }: Start, lines: number): Generator<Fact> {
  for (let line = 0; line < lines; line += 1) {
    yield { type: 'attempt.output', task, attempt, stream: 'stdout', text: `${task} says line ${line}\n` };
  }
  yield { type: 'attempt.finished', task, attempt, outcome: { kind: 'done' }, durationMs: 1 };
}
