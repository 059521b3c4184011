/**
 * Which candidate of a race is picked, and what comes then. Pure, as all of decide.
 *
 *   expanded ──▶ candidates, all at once ──▶ the first succeeds (no `judge`) ───────────────┐
 *                        └──▶ all have ended ──▶ the best score (`judge.check`) ────────────┤
 *                                   │       └──▶ an agent or a person is asked ──▶ one ────┤
 *                                   │                                  └──▶ nobody: failed  ▼
 *                                   └──▶ none succeeded: failed             picked ──▶ merged ──▶ done
 */
import type { Decision, EventOf } from '../../contract/event.ts';
import type { FailReason } from '../../contract/run.ts';
import { endCancelled, isBeingCancelled } from './cancelled.ts';
import { awaitPublishers } from './publications.ts';
import { candidatesOf, offersOf, personsPick, pickOf, pickQuestion } from '../workflow/race.ts';
import { hasLost, nodeOf, type Node, type State } from '../state.ts';

const REASON_CHARS_MAX = 200;

/** The race itself, once nothing within is under way. */
export function decideRace(state: State, node: Node): Decision {
  const { id: task, picked } = node;
  if (isBeingCancelled(state, node)) return endCancelled(node);
  if (picked) return awaitPublishers(state, node) ?? takeWork(node, nodeOf(state, picked.candidate));
  const offers = offersOf(node);
  if (offers.length === 0) return failed(node, 'tasks', describeFailures(node));
  const { judge } = node.task;
  if (judge === undefined) return pick(node, offers[0]!, 'it succeeded first');
  if (judge === 'person')
    return node.answer
      ? afterPerson(node)
      : { type: 'question.asked', id: task, task, ...pickQuestion(state, node) };
  if ('check' in judge) return pickBest(node, offers, judge.best);
  if (node.judge === undefined) return { type: 'task.judging', task };
  return afterJudge(state, node, nodeOf(state, node.judge));
}

/** A candidate that has just succeeded: the first one wins where nobody judges. */
export function pickFirst(node: Node): Decision | undefined {
  const race = node.parent!;
  if (race.task.judge !== undefined || race.picked !== undefined) return undefined;
  return pick(race, node, 'it succeeded first');
}

/** One that is of no use any more: another was picked. */
export function giveUp(node: Node): Decision | undefined {
  if (!hasLost(node)) return undefined;
  const { id: task, attempt } = node;
  if (node.state === 'running' && !node.ended)
    return { type: 'attempt.stopping', task, attempt, mode: 'graceful' };
  return endCancelled(node);
}

/** The commit that a task merges: that of its last attempt; of a race, that of its pick while it had no conflict. */
export function commitToMerge(state: State, { ended, picked }: Node): string {
  return ended?.collected?.commit ?? nodeOf(state, picked!.candidate).results[0]!;
}

function takeWork(node: Node, won: Node): Decision {
  const { id: task, attempt } = node;
  if (won.changedCount) return { type: 'task.merging', task, attempt, commit: won.results[0]! };
  const { output = null, outputRef } = won;
  return {
    type: 'task.finished',
    task,
    outcome: { kind: 'done' },
    ...(outputRef ? { outputRef } : { output }),
  };
}

/** Of equals the first as written. */
function pickBest(node: Node, offers: readonly Node[], best: 'highest' | 'lowest'): Decision {
  const sign = best === 'highest' ? 1 : -1;
  const scoreOf = ({ score = -sign * Infinity }: Node): number => sign * score;
  const won = offers.reduce((first, other) => (scoreOf(other) > scoreOf(first) ? other : first));
  const others = offers
    .filter((offer) => offer !== won)
    .map(({ candidate, score }) => `${candidate}: ${score}`);
  return pick(
    node,
    won,
    `it has the ${best} score, ${won.score}${others.length > 0 ? ` (${others.join(', ')})` : ''}`,
  );
}

function afterJudge(state: State, node: Node, judge: Node): Decision {
  if (judge.state !== 'done') return failed(node, 'tasks', `${judge.label} failed: ${messageOf(judge)}`);
  const said = pickOf(state, judge);
  if (!said) return failed(node, 'judge', `${judge.label} named no candidate`);
  if (said.candidate) return pick(node, said.candidate, said.reasons);
  return failed(node, 'judge', `${judge.label} picked nobody: ${said.reasons.split('\n', 1)[0]}`);
}

function afterPerson(node: Node): Decision {
  const said = personsPick(node);
  if (!said) return failed(node, 'judge', 'nobody answered which candidate to take');
  if (said.candidate) return pick(node, said.candidate, said.reasons);
  return failed(node, 'judge', `a person picked nobody: ${said.reasons}`);
}

function pick({ id: task }: Node, { id: candidate }: Node, because: string): EventOf<'task.picked'> {
  return { type: 'task.picked', task, candidate, because };
}

function describeFailures(node: Node): string {
  const all = candidatesOf(node);
  const reasons = all.map((each) => `${each.candidate}: ${messageOf(each).slice(0, REASON_CHARS_MAX)}`);
  return `none of the ${all.length} candidates succeeded (${reasons.join('; ')})`;
}

function messageOf({ outcome, state }: Node): string {
  return outcome && 'message' in outcome ? outcome.message : state;
}

function failed({ id: task }: Node, reason: FailReason, message: string): Decision {
  return { type: 'task.finished', task, outcome: { kind: 'failed', reason, message } };
}
