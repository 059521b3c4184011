/**
 * What the candidates of a `race` and its judge are asked for, and how what the judge says is read: one of them, or nobody,
 * and why. Pure.
 */
import { shellWord } from '../../base/shell-word.ts';
import type { GivenFile } from '../../contract/event.ts';
import { asksModels } from '../../contract/runtimes.ts';
import type { Json, Task } from '../../contract/workflow.ts';
import { judgeOf } from '../../contract/workflow-words.ts';
import type { Node, State } from '../state.ts';
import { boundedQuestion, type Question } from '../../contract/question.ts';
import { objectWith } from './object-in-text.ts';
import { cutLines, outputOf, said, textOf } from './said.ts';

/** What the judge is told of each candidate's words; longer ones are cut. */
const SAID_CHARS_MAX = 4000;
const REASONS_CHARS_MAX = 4000;
const JUDGE_ATTEMPTS = 2;
const NOBODY = 'none';
const NONE_OF_THEM = 'none of them';
const BRIEF_CHARS_MAX = 100;

export interface Pick {
  /** Undefined where nobody is good enough. */
  candidate: Node | undefined;
  reasons: string;
}

/** As people and the judge call them: by number, or by their agents. */
export function candidateNames(race: NonNullable<Task['race']>): string[] {
  if (typeof race === 'number') return Array.from({ length: race }, (_, index) => String(index + 1));
  return race.map((agent, index) => {
    const times = race.slice(0, index).filter((other) => other === agent).length;
    return times === 0 ? agent : `${agent} ${times + 1}`;
  });
}

export function candidatesOf({ children }: Node): Node[] {
  return children.filter(({ candidate }) => candidate !== undefined);
}

/** The task of one candidate: all that is asked of the whole, and what it spends is the whole's. */
export function candidateTask({ task }: Node, index: number): Task {
  const { race, budget: _, if: __, 'for-each': ___, ...rest } = task;
  return {
    ...rest,
    needs: [],
    // One that fails is not picked; what fails is the race.
    'on-failure': 'continue',
    ...(Array.isArray(race) && { agent: race[index]! }),
  };
}

/** It reads, and changes nothing. */
export function judgeTask(group: Node): Task {
  const { workspace } = group.task;
  const judge = judgeOf(group.task);
  if (!judge || !('agent' in judge)) throw new Error(`${group.id} has no agent that judges`);
  const { agent, prompt } = judge;
  return {
    needs: [],
    agent,
    prompt: prompt ?? '',
    scope: { write: [], shared: [] },
    attempts: JUDGE_ATTEMPTS,
    'on-failure': 'continue',
    ...(workspace && { workspace }),
    ...(asksModels(group.workflow.agents[agent]?.runtime ?? 'cli') && { output: pickSchema(group) }),
  };
}

/** `request` is what the candidates were asked for, `own` what the workflow has to say to the judge. */
export function judgePrompt(state: State, node: Node, request: string, own: string): string {
  const offers = offersOf(node.parent!);
  const names = offers.map(({ candidate }) => `"${candidate}"`).join(', ');
  return [
    'Several candidates did the same task, each for itself and from the same files. Pick the one whose work is taken; the others are not. They were asked:',
    request,
    ...(own === '' ? [] : [own]),
    ...offers.map((offer) => describeOffer(state, offer)),
    [
      'End with one JSON object:',
      `{"pick": ${names} or "${NOBODY}" if no candidate is good enough, "reasons": why}`,
    ].join('\n'),
  ].join('\n\n');
}

/** The changes of each candidate. */
export function judgeFiles(node: Node): GivenFile[] {
  return offersOf(node.parent!).flatMap((offer) => {
    const { workspaceBase: from, results } = offer;
    if (!offer.changedCount || from === undefined) return [];
    return [{ name: fileName(offer), diff: { from, to: results[0]! } }];
  });
}

/** What a judge said; undefined where that names nobody who was a candidate, nor that it is nobody. */
export function pickOf(state: State, judge: Node): Pick | undefined {
  const found = objectWith('pick', outputOf(state, judge));
  if (!found) return undefined;
  const { pick, reasons: given } = found;
  const reasons =
    given === undefined || given === null || given === ''
      ? 'no reasons were given'
      : cutLines(textOf(given), REASONS_CHARS_MAX);
  if (pick === NOBODY || pick === null || pick === '') return { candidate: undefined, reasons };
  const name = typeof pick === 'number' ? String(pick) : pick;
  const candidate = offersOf(judge.parent!).find(({ candidate, label, id }) =>
    [candidate, label, id].some((known) => known === name),
  );
  return candidate && { candidate, reasons };
}

/** What a person who picks is asked. */
export function pickQuestion(state: State, group: Node): Question {
  const offers = offersOf(group);
  const example = `bosun diff ${state.id} --task ${shellWord(group.label)} --candidates`;
  return boundedQuestion({
    text: `Which candidate of ${group.label} is merged? (What they changed: ${example})`,
    default: null,
    choices: [
      ...offers.map((offer) => ({ label: choiceOf(offer), about: describeBriefly(state, offer) })),
      { label: NONE_OF_THEM, about: 'the race fails, and all work is kept' },
    ],
  });
}

/** What a person said; undefined where nobody did. */
export function personsPick(group: Node): Pick | undefined {
  const { answer, by, note } = group.answer!;
  if (answer === null) return undefined;
  const reasons = `${by} said so${note === undefined ? '' : `: ${note}`}`;
  const candidate = offersOf(group).find((offer) => choiceOf(offer) === answer || offer.candidate === answer);
  return { candidate, reasons };
}

/** Where one failed, the number of another is not its place in the list: only places are numbers there. */
function choiceOf({ candidate = '' }: Node): string {
  return /^\d+$/.test(candidate) ? `candidate ${candidate}` : candidate;
}

/** Candidates whose work can be taken. */
export function offersOf(group: Node): Node[] {
  return candidatesOf(group).filter(({ state }) => state === 'done');
}

function describeOffer(state: State, offer: Node): string {
  const { candidate, changedCount = 0, task } = offer;
  const who = typeof task.agent === 'string' && task.agent !== candidate ? ` (agent ${task.agent})` : '';
  const changes =
    changedCount > 0
      ? `changed ${changedCount} ${changedCount === 1 ? 'file' : 'files'}, see ${fileName(offer)}`
      : 'changed no files';
  return `Candidate "${candidate}"${who} ${changes}, and said:\n\n${said(outputOf(state, offer), SAID_CHARS_MAX)}`;
}

function describeBriefly(state: State, offer: Node): string {
  const { changedCount = 0 } = offer;
  const files = `${changedCount} ${changedCount === 1 ? 'file' : 'files'} changed`;
  const output = outputOf(state, offer);
  if (output === null || (typeof output === 'string' && output.trim() === '')) return files;
  return `${files}: ${said(output, BRIEF_CHARS_MAX).split('\n', 1)[0]!}`;
}

function fileName({ candidate }: Node): string {
  return `candidate-${candidate!.replaceAll(' ', '-')}.diff`;
}

function pickSchema(group: Node): Record<string, Json> {
  const names = offersOf(group).map(({ candidate }) => candidate!);
  return {
    type: 'object',
    properties: {
      pick: { type: 'string', enum: [...names, NOBODY] },
      reasons: { type: 'string', description: 'Why this one, or why nobody.' },
    },
    required: ['pick', 'reasons'],
    additionalProperties: false,
  };
}
