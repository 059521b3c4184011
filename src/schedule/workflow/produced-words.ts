/** What a person should read before answering an approval: what the tasks that it needs produced, cut to a length. Pure. */
import { PRODUCED_MAX, PRODUCED_CHARS_MAX, type ProducedWords } from '../../contract/question.ts';
import { isGroup, type Node, type State } from '../state.ts';
import { membersOf } from './group-result.ts';
import { outputOf, said } from './said.ts';

export function producedFor(state: State, { needs }: Node): ProducedWords[] {
  const sources = needs.flatMap((need) => (isSplit(need) ? membersOf(need) : [need]));
  const all = sources.flatMap((source): ProducedWords[] => {
    const text = wordsOf(state, source);
    const { id, label } = source;
    return text === '' ? [] : [{ task: id, ...(label !== id && { label }), text }];
  });
  return all.slice(0, PRODUCED_MAX);
}

/** What stands for others of equal standing; the result of a handoff or a race is its own. */
function isSplit(node: Node): boolean {
  return isGroup(node) && node.kind !== 'handoff' && node.kind !== 'race' && node.kind !== 'continuous';
}

function wordsOf(state: State, node: Node): string {
  const { outcome, changedCount = 0, kind } = node;
  if (kind === 'approve' || !outcome || outcome.kind === 'skipped') return '';
  if (outcome.kind === 'failed') return `failed: ${said(outcome.message, PRODUCED_CHARS_MAX)}`;
  const output = outputOf(state, node);
  const words = typeof output === 'string' ? output.trim() : output;
  if (words !== null && words !== '') return said(words, PRODUCED_CHARS_MAX);
  return changedCount > 0 ? `changed ${changedCount} ${changedCount === 1 ? 'file' : 'files'}` : '';
}
