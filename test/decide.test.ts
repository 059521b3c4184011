import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Event, EventOf } from '../src/contract/event.ts';
import { isAnswerTo, isYesNo, type Answer, type AnswerForm } from '../src/contract/question.ts';
import type { Node, State } from '../src/schedule/state.ts';
import { hasEnded, hasFailed, hasLost, isMet, isPast, isTolerated } from '../src/schedule/state.ts';
import { brokenIn } from '../src/schedule/decide/replan.ts';
import { takenPlaces } from '../src/schedule/decide/waits.ts';
import { runsAnyway } from '../src/schedule/decide/halt.ts';
import { play, replay, workflowOf } from './fixtures/history.ts';
import { picture } from './fixtures/picture.ts';
import { watchFamily } from './fixtures/family-watch.ts';
import { MessageWatch } from './fixtures/message-watch.ts';
import { VetoWatch } from './fixtures/veto-watch.ts';
import { checkStart } from './fixtures/check-start.ts';
import { countSummary, newSummaries } from './fixtures/summary-watch.ts';

const HISTORIES = 100_000;

describe('decide', () => {
  it(`holds its promises over ${HISTORIES} random histories`, { timeout: 900_000 }, () => {
    let started = 0;
    let cancelled = 0;
    let stopped = 0;
    const heard = new Map<string, number>();
    const said = new Map<string, number>();
    const fallbacks = new Set<string>();
    const answers = new Map<string, number>();
    const reasons = new Set<string>();
    const rounds = new Map<string, number>();
    const messages = new Map<string, number>();
    const pauses = new Map<string, number>();
    const publications = { made: 0, started: 0, awaited: 0, mergedAfter: 0, missing: 0, lost: 0 };
    const children = { added: 0, refused: 0, unwanted: 0, awaited: 0, merged: 0 };
    const handoffs = { sentBack: 0, done: 0, rejected: 0 };
    const replans = { asked: 0, gaveUp: 0, done: 0 };
    const vetoes = new VetoWatch();
    const summaries = newSummaries();
    const races = { judged: 0, picked: 0, merged: 0, nobody: 0, lost: 0 };
    const shapes = fc.array(fc.nat(0xffff), { minLength: 1, maxLength: 7 });
    const choices = fc.array(fc.nat(0xffff), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(
        shapes,
        fc.integer({ min: 1, max: 3 }),
        fc.boolean(),
        choices,
        (shape, concurrency, stops, list) => {
          const ended = new Set<string>();
          let hasStopped = false;
          let closing: EventOf<'attempt.finished' | 'run.cancelling'> | undefined;
          const asked = new Set<string>();
          const granted = new Map<string, Set<string>>();
          const open = new Set<string>();
          const forms = new Map<string, AnswerForm>();
          /** Tasks that may start, as decisions say. */
          const ready = new Set<string>();
          /** Tasks with an attempt that ended, until it is decided what comes then. */
          const undecided = new Set<string>();
          const watch = new MessageWatch(messages);
          /** The first event after a pause by which all attempts that run are decided on. */
          let hasPaused = false;
          const result = play(workflowOf(shape, concurrency, stops), list, (state, event) => {
            watch.see(state, event);
            vetoes.see(state, event);
            if (event.type === 'run.paused' || event.type === 'task.paused') hasPaused = true;
            else if (hasPaused && event.type !== 'attempt.pausing') {
              hasPaused = false;
              checkPaused(state, event);
            }
            if (event.type === 'attempt.pausing') countPause(state, event, pauses);
            if (event.type === 'task.again' && event.why === 'paused') {
              pauses.set('again', (pauses.get('again') ?? 0) + 1);
              if (state.nodes.get(event.task)!.failures > 0 && event.delayMs !== undefined)
                throw new Error(`${event.task} is punished for a pause`);
            }
            if ((event.type === 'attempt.started' || event.type === 'task.round') && isPaused(state, event))
              throw new Error(`${event.type} of ${event.task} although it is paused`);
            // Those that wait leave their places to others, to as many again at most.
            const isTooMuch = event.type === 'attempt.started' && takenPlaces(state) > concurrency;
            if (isTooMuch || state.running > 2 * concurrency)
              throw new Error('more attempts than the workflow allows');
            if (event.type === 'attempt.started') {
              started++;
              const node = state.nodes.get(event.task)!;
              if (!node.needs.every(hasEnded)) throw new Error(`${node.id} started before its needs ended`);
              if (!node.needs.every(isMet) && !runsAnyway(node))
                throw new Error(`${node.id} started after a failed need`);
              if (state.cancelling) throw new Error(`${node.id} started after cancel`);
              const isFirst = event.attempt === 1 && event.purpose === 'work'; // of a race, the first settles a conflict
              if (hasStopped && !node.parent && isFirst && !runsAnyway(node)) {
                throw new Error(`${node.id} started although the workflow stops on failure`);
              }
              countStart(state, node, event, publications);
              if (event.from.length === 0) throw new Error(`${node.id} starts from nothing`);
            }
            watchFamily(state, event, children);
            if (event.type === 'tasks.ready') for (const id of event.tasks) ready.add(id);
            if (READIES.has(event.type) && 'task' in event) ready.add(event.task);
            if (event.type === 'attempt.started' && !ready.delete(event.task))
              throw new Error(`${event.task} started although nothing said that it may`);
            if (event.type === 'attempt.finished') undecided.add(event.task);
            if (event.type === 'task.again') reasons.add(event.why);
            if (event.type === 'task.again' && event.why === 'replan') {
              replans.asked++;
              const { children, replans: asked = 0, task } = state.nodes.get(event.task)!;
              if (!children.every(hasEnded)) throw new Error(`${event.task} is replanned while it goes on`);
              if (asked > task.replan!) throw new Error(`${event.task} is replanned too often`);
            }
            if (event.type === 'task.round') {
              rounds.set(event.why, (rounds.get(event.why) ?? 0) + 1);
              const { children, siblings } = state.nodes.get(event.task)!;
              if (!children.slice(0, -1).every(hasEnded))
                throw new Error(`${event.task} has two rounds at once`);
              const isLeft = [...siblings.values()].some((node) => !node.task.continuous && !hasEnded(node));
              if (isLeft === (event.why === 'final') && children.length > 1)
                throw new Error(`${event.task} has a round ${event.why} at the wrong time`);
            }
            if (event.type === 'task.handed') {
              if (event.rejected) handoffs.sentBack++;
              checkTurns(state.nodes.get(event.task)!);
            }
            countSummary(state, event, summaries);
            if (event.type === 'task.judging') races.judged++;
            if (event.type === 'task.picked') {
              races.picked++;
              checkPick(state, event);
            }
            if (event.type === 'task.merging') {
              const node = state.nodes.get(event.task)!;
              if (node.candidate !== undefined || node.isJudge)
                throw new Error(`${node.id} is merged, although its race is to be`);
              if (node.kind === 'race') races.merged++;
            }
            if (ANSWERS_ATTEMPT.has(event.type) && 'task' in event) undecided.delete(event.task);
            if (event.type === 'attempt.started' && undecided.has(event.task))
              throw new Error(`${event.task} started although nothing was decided on its last attempt`);
            if (event.type === 'attempt.started') checkStart(state, event, fallbacks);
            if (event.type === 'attempt.asked') open.add(event.id);
            if (event.type === 'attempt.asked' && !forms.has(event.id)) forms.set(event.id, event);
            if (event.type === 'attempt.answered') {
              if (!open.delete(event.id)) throw new Error(`${event.id} was answered twice`);
              heard.set(event.by, (heard.get(event.by) ?? 0) + 1);
              const form = forms.get(event.id)!;
              forms.delete(event.id);
              if (!isAnswerTo(form, event)) throw new Error(`${event.id} has an answer that does not fit`);
              const kind = sortOf(form, event);
              said.set(kind, (said.get(kind) ?? 0) + 1);
            }
            if (event.type === 'run.finished' && open.size > 0)
              throw new Error(`${[...open].join()} has no answer`);
            if (event.type === 'run.finished' && event.because) stopped++;
            if (event.type === 'run.cancelling') cancelled++;
            if (event.type === 'access.requested') asked.add(event.id);
            if (event.type === 'access.answered') {
              if (!asked.delete(event.id)) throw new Error(`${event.id} was answered twice`);
              const { globs, answer, by } = event;
              const kind = `${answer} by ${by.split(' ')[0]}`;
              answers.set(kind, (answers.get(kind) ?? 0) + 1);
              if (answer === 'yes') checkYes(state.nodes.get(event.task)!, event, state.cancelling);
              if (answer === 'yes' && by !== 'scope') {
                const all = granted.get(event.task) ?? new Set();
                granted.set(event.task, new Set([...all, ...globs]));
              }
            }
            if (event.type === 'attempt.finished' || event.type === 'run.cancelling') closing = event;
            else if (closing && !('id' in event)) {
              const left = [...state.requests.values()].find(
                ({ task }) => closing!.type === 'run.cancelling' || task === closing!.task,
              );
              if (left) throw new Error(`${left.id} is open although ${closing.type}`);
              closing = undefined;
            }
            if (event.type === 'publication.made') publications.made++;
            if (event.type === 'merge.deferred') {
              publications.awaited++;
              if (!event.until.some((id) => !hasEnded(state.nodes.get(id)!)))
                throw new Error(`${event.task} waits for nobody`);
            }
            if (event.type === 'task.merging') checkMerge(state, event.task, publications);
            if (event.type === 'task.finished') {
              if (isNeedMissing(event)) publications.missing++;
              if (isPublisherLost(event)) publications.lost++;
              if (ended.has(event.task)) throw new Error(`${event.task} ended twice`);
              ended.add(event.task);
              const node = state.nodes.get(event.task)!;
              if (node.kind === 'approve' && typeof node.task.approve === 'object') countChoice(event, said);
              if (node.kind === 'handoff') countHandoff(node, handoffs);
              if (node.kind === 'race') checkRace(node);
              const isReplanned = node.children.some(({ isReplaced }) => isReplaced);
              if (isReplanned && event.outcome.kind === 'done') replans.done++;
              if (event.outcome.kind === 'failed' && event.outcome.message.includes('no other tasks'))
                replans.gaveUp++;
              if (event.outcome.kind === 'failed' && event.outcome.reason === 'judge') races.nobody++;
              if (event.outcome.kind === 'cancelled' && hasLost(node)) races.lost++;
              if (stops && !node.parent && event.outcome.kind === 'failed' && !isTolerated(node))
                hasStopped = true;
            }
            if (event.type === 'run.resumed' || event.type === 'task.retried')
              for (const id of ended)
                if (!hasEnded(state.nodes.get(id)!)) throw new Error(`${id} is open before that was decided`);
            if (event.type === 'run.reopened') {
              hasStopped = false;
              for (const id of ended) if (!hasEnded(state.nodes.get(id)!)) ended.delete(id);
            }
          });
          const { state, events } = result;
          if (!['done', 'failed', 'cancelled'].includes(state.state))
            throw new Error(`stuck: ${state.state}`);
          if (![...state.nodes.values()].every(hasEnded)) throw new Error('the run ended before its tasks');
          const liars = [...state.nodes.values()].filter(
            (node) =>
              node.state === 'done' &&
              node.kind !== 'race' &&
              brokenIn(node).some((child) => !child.isChild && !isPast(child)), // of rounds only the last counts
          );
          if (liars.length > 0) throw new Error(`${liars[0]!.id} is done, but a task within it failed`);
          if (asked.size > 0) throw new Error(`${[...asked][0]} was never answered`);
          if (state.requests.size + state.asks.size + state.questions.size + state.asked.size > 0)
            throw new Error('a question is left over');
          for (const node of state.nodes.values()) {
            if (node.granted.join() !== [...(granted.get(node.id) ?? [])].join())
              throw new Error(`${node.id} does not have what it was granted`);
          }
          watch.end(state);
          if (state.deferred.size > 0) throw new Error('work waits to be merged for ever');
          if (state.running + state.todo.size + state.open + state.spawns.size !== 0)
            throw new Error('something is left over');
          if (state.state === 'done' && [...state.top.values()].some(hasFailed))
            throw new Error('done with a failed task');
          if (JSON.stringify(picture(replay(events))) !== JSON.stringify(picture(state)))
            throw new Error('replay differs');
        },
      ),
      { numRuns: HISTORIES, seed: 20_240_915, endOnFailure: false },
    );
    // The histories must have been worth playing.
    expect(started).toBeGreaterThan(HISTORIES);
    expect(cancelled).toBeGreaterThan(HISTORIES / 20);
    expect(stopped).toBeGreaterThan(HISTORIES / 1000);
    for (const by of ['test', 'policy', 'budget', 'ended'])
      expect(heard.get(by) ?? 0, by).toBeGreaterThan(HISTORIES / 1000);
    for (const kind of ['yes', 'no', 'choice', 'several', 'text', 'nothing', 'chosen'])
      expect(said.get(kind) ?? 0, kind).toBeGreaterThan(HISTORIES / 1000);
    for (const why of ['first', 'every', 'on', 'final'])
      expect(rounds.get(why) ?? 0, why).toBeGreaterThan(HISTORIES / 1000);
    for (const [what, count] of Object.entries({ ...handoffs, ...children, ...vetoes.counts, ...summaries }))
      expect(count, what).toBeGreaterThan(HISTORIES / 1000);
    for (const [what, count] of Object.entries(replans)) expect(count, what).toBeGreaterThan(0);
    for (const [what, count] of Object.entries(races)) expect(count, what).toBeGreaterThan(HISTORIES / 1000);
    for (const kind of MESSAGES) expect(messages.get(kind) ?? 0, kind).toBeGreaterThan(0);
    for (const [what, count] of Object.entries(publications))
      expect(count, what).toBeGreaterThan(HISTORIES / 1000);
    expect([...reasons].toSorted().join(' ')).toBe('conflict context fallback feedback lost paused replan');
    for (const what of [...PAUSES, 'again'])
      expect(pauses.get(what) ?? 0, what).toBeGreaterThan(HISTORIES / 50_000);
    expect([...fallbacks].toSorted()).toEqual(['claude-code other', 'opencode ']);
    for (const kind of ANSWERS) expect(answers.get(kind) ?? 0, kind).toBeGreaterThan(HISTORIES / 20_000);
  });
});

const PAUSES = [
  'stop: it had not begun',
  'stop: it continues its conversation after the pause',
  'finish: a command cannot continue where it was stopped',
  'finish: its agent has finished',
  'hold: it has not begun a conversation',
  'hold: its agent cannot continue an earlier conversation',
  'hold: it has no workspace to continue in',
  'hold: no model has answered it yet',
];

/** As a person would look at it: is the run paused, or the task, or one that it belongs to? */
function isPaused(state: State, { task }: { task: string }): boolean {
  if (state.paused) return true;
  for (let at = state.nodes.get(task); at; at = at.parent) if (at.paused) return true;
  return false;
}

/** An attempt that runs into a pause has been decided on; unless it ends with that very event. */
function checkPaused(state: State, event: Event): void {
  if (state.cancelling) return;
  for (const node of state.nodes.values()) {
    const isOther = !('task' in event) || event.task !== node.id;
    if (
      isOther &&
      isPaused(state, { task: node.id }) &&
      node.state === 'running' &&
      !node.ended &&
      !node.stopping &&
      !node.pausing
    )
      throw new Error(`nothing was decided on ${node.id} when it was paused`);
  }
}

/** What is ended can be gone on with, or had not begun. */
function countPause(state: State, event: EventOf<'attempt.pausing'>, pauses: Map<string, number>): void {
  const { task, attempt, how, because } = event;
  const node = state.nodes.get(task)!;
  if (!isPaused(state, event)) throw new Error(`${task} is to pause although nobody paused it`);
  if (node.state !== 'running' || node.attempt !== attempt) throw new Error(`${task} does not run`);
  const canContinue = node.session?.attempt === attempt && node.workspace !== undefined;
  if (how === 'stop' && !canContinue && !node.waitsForSlot)
    throw new Error(`${task} is stopped although it could not continue`);
  const kind = `${how}: ${because}`;
  pauses.set(kind, (pauses.get(kind) ?? 0) + 1);
}

interface Publications {
  started: number;
  mergedAfter: number;
  lost: number;
}

/** What a task needs of others is there when it starts, as one of the commits it starts from. */
function countStart(
  state: State,
  node: Node,
  event: EventOf<'attempt.started'>,
  publications: Publications,
): void {
  for (const { name, versions } of node.apis) {
    if (runsAnyway(node)) continue;
    const standing = versions.filter(({ task }) => {
      const publisher = state.nodes.get(task)!;
      return !hasEnded(publisher) || publisher.state === 'done';
    });
    if (standing.length === 0) throw new Error(`${node.id} started without api:${name}`);
    const { commit, task } = standing.at(-1)!;
    const { state: at, results } = state.nodes.get(task)!;
    const isThere =
      at === 'done'
        ? event.from.includes(state.shadow) || results.every((one) => event.from.includes(one))
        : !commit || event.from.includes(commit);
    if (event.purpose === 'work' && !isThere)
      throw new Error(`${node.id} starts without the files of ${task}`);
    if (event.publications) publications.started++;
  }
  for (const { task } of event.publications ?? [])
    if (hasEnded(state.nodes.get(task)!)) throw new Error(`${node.id} rests on ${task}, which has ended`);
}

/** Files of a task that is not merged come to the branch with no other. */
function checkMerge(state: State, id: string, publications: Publications): void {
  for (const { task } of state.nodes.get(id)!.restsOn) {
    if (state.nodes.get(task)!.state !== 'done') throw new Error(`${id} is merged before ${task}`);
    publications.mergedAfter++;
  }
}

function isNeedMissing({ outcome }: EventOf<'task.finished'>): boolean {
  return outcome.kind === 'skipped' && /^it needs api:.* ended without publishing$/.test(outcome.message);
}

function isPublisherLost({ outcome }: EventOf<'task.finished'>): boolean {
  return outcome.kind === 'skipped' && /^it needs api:.*, which published version/.test(outcome.message);
}

/** One turn at a time, each from what the one before left, and not for ever. */
function checkTurns(group: Node): void {
  const before = group.children.slice(0, -1);
  if (!before.every(hasEnded)) throw new Error(`${group.id} has two turns at once`);
  if (group.children.at(-1)!.needs[0] !== before.at(-1))
    throw new Error(`${group.id} does not continue from the turn before`);
  if (group.rounds > (group.task.rounds ?? 3)) throw new Error(`${group.id} has more rounds than it may`);
}

function countHandoff(group: Node, handoffs: { done: number; rejected: number }): void {
  const { outcome, children, task } = group;
  if (outcome?.kind === 'failed' && outcome.reason === 'rejected') handoffs.rejected++;
  if (outcome?.kind !== 'done') return;
  handoffs.done++;
  const last = children.at(-1)!;
  if (last.state !== 'done' || last.turn!.at !== task.handoff!.length - 1)
    throw new Error(`${group.id} is done before its last agent is`);
  if (last.turn!.at > 0 && isDeepStrictEqual(last.output, { verdict: 'reject', reasons: 'no' }))
    throw new Error(`${group.id} is done although its last agent rejects it`);
}

/** Nobody is picked twice, or who did not succeed, or by a judge who was not done. */
function checkPick(state: State, { task, candidate }: EventOf<'task.picked'>): void {
  const race = state.nodes.get(task)!;
  const won = state.nodes.get(candidate)!;
  if (won.parent !== race || won.candidate === undefined) throw new Error(`${candidate} is no candidate`);
  const isDone = won.state === 'done' || won.ended?.outcome.kind === 'done';
  if (!isDone) throw new Error(`${candidate} was picked and has not succeeded`);
  const { judge } = race.task;
  if (!judge) return;
  const others = race.children.filter((child) => child.candidate !== undefined && child !== won);
  if (!others.every(hasEnded)) throw new Error(`${candidate} was picked before all others had ended`);
  if (
    judge !== 'person' &&
    'check' in judge &&
    others.some(({ state, score = 0 }) => state === 'done' && score > won.score!)
  )
    throw new Error(`${candidate} was picked, although another one is better`);
}

/** Its work is that of its pick, and of nobody else. */
function checkRace(race: Node): void {
  if (race.state !== 'done') return;
  const won = race.children.find(({ id }) => id === race.picked?.candidate);
  if (won?.state !== 'done') throw new Error(`${race.id} is done without a pick`);
  if ((race.merged !== undefined) !== (won.changedCount ?? 0) > 0)
    throw new Error(`${race.id} is done and the work of its pick is not merged`);
  if (race.merged && race.results.join() !== race.merged.result)
    throw new Error(`${race.id} gives other results than what is merged`);
  if (JSON.stringify(race.output) !== JSON.stringify(won.output))
    throw new Error(`${race.id} has another output than its pick`);
}

/** What kind of answer it is. */
function sortOf(form: AnswerForm, { answer, chosen }: Answer): string {
  if (isYesNo(form)) return answer!;
  if (answer === null) return 'nothing';
  if (chosen) return 'several';
  return form.choices?.some(({ label }) => label === answer) ? 'choice' : 'text';
}

function countChoice({ outcome, output }: EventOf<'task.finished'>, said: Map<string, number>): void {
  if (outcome.kind !== 'done') return;
  const { approved, answer } = output as { approved: boolean; answer: string };
  if (!approved || !['a', 'b'].includes(answer)) throw new Error(`approved with ${answer}`);
  said.set('chosen', (said.get('chosen') ?? 0) + 1);
}

/** Besides `tasks.ready`, which names several. */
const READIES = new Set<string>(['task.admitted', 'task.again', 'task.delayed']);

const ANSWERS_ATTEMPT = new Set([
  'task.again',
  'task.delayed',
  'task.merging',
  'task.expanded',
  'task.finished',
  'task.judging',
]);

const MESSAGES = [
  'delivered', 'given', 'acknowledged', 'kept', 'passed on', 'refused: unknown', 'refused: self', 'refused: ended',
  'refused: nobody', 'wait: met', 'wait: ended', 'wait: expired', 'wait: cancelled', 'wait: circle',
  'told of a version', 'nobody to tell of a version', 'publication: met', 'publication: ended', 'publication: circle',
  'service: there', 'service: of another', 'service: met', 'service: ended', 'service: circle', 'service: expired',
]; // prettier-ignore

const ANSWERS = [
  'yes by scope', 'no by scope', 'yes by policy', 'no by policy', 'yes by owner', 'no by owner', 'yes by test',
  'no by test', 'no by ended', 'applied by owner',
]; // prettier-ignore

function checkYes(node: Node, event: EventOf<'access.answered'>, cancelling: unknown): void {
  const wrong = (why: string): never => {
    throw new Error(`${event.id} got ${event.globs.join()} from ${event.by}, but ${why}`);
  };
  if (cancelling) wrong('the run is being cancelled');
  if (node.state !== 'running' || node.attempt !== event.attempt) wrong('its attempt does not run');
  const { agent } = node.task;
  if (typeof agent !== 'string' || agent === 'a' || agent === 'm') return;
  if (event.globs.some((glob) => glob === '**' || glob.startsWith('secret'))) wrong('that is hidden');
  if (agent === 'never' && event.by !== 'scope') wrong('nobody may grant it anything');
  const isListed = event.globs.every((glob) => glob.startsWith('open/') || glob === '*.md');
  if (agent === 'listed' && event.by !== 'scope' && !isListed) wrong('its policy does not name that');
}
