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

/** The journal of a run in which every attempt printed `lines` times and was done. Returns how many events it has. */
export async function writeJournal(repo: string, workflow: WorkflowSource, lines: number): Promise<number> {
  const home = await createHome({ top: repo, commonDir: path.join(repo, '.git') });
  await using store = openSqliteStore(home.journal);
  const base = (await git(repo, 'rev-parse', 'HEAD')).trim();
  const run = { workflow: WorkflowFile.parse(workflow), source: 'bench', inputs: {}, base, dirty: false };
  const atMs = Date.now();
  const { id, claim } = await createRun(store, run, atMs);
  claim[Symbol.dispose](); // whoever is measured goes on with it
  let { state, lastSeq } = await loadRun(store, id);

  const facts: Fact[] = [];
  let events: Event[] = [];
  const commit = async (): Promise<void> => {
    lastSeq = await store.append(id, lastSeq, {
      entries: events.map((event) => ({ atMs, event })),
      run: runView(state),
      tasks: [...state.nodes.values()].map((node) => taskView(node)),
      handled: [],
    });
    events = [];
  };
  for (let next = nextOf(); next; next = nextOf()) {
    apply(state, next, atMs);
    events.push(next);
    if (next.type === 'attempt.started') facts.push(...livesOf(next, lines));
    if (events.length >= BATCH_EVENTS) await commit();
  }
  await commit();
  return lastSeq;

  function nextOf(): Event | undefined {
    return decide(state) ?? facts.shift();
  }
}

function* livesOf(
  { task, attempt }: Extract<Decision, { type: 'attempt.started' }>,
  lines: number,
): Generator<Fact> {
  for (let line = 0; line < lines; line += 1) {
    yield { type: 'attempt.output', task, attempt, stream: 'stdout', text: `${task} says line ${line}\n` };
  }
  yield { type: 'attempt.finished', task, attempt, outcome: { kind: 'done' }, durationMs: 1 };
}
