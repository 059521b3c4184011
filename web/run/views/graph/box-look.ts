/** How a box of the graph looks at a moment. Pure, and made once for each moment and box. */
import type { TaskState } from '../../../../src/contract/run.ts';
import { count, countStates } from '../../../../src/report/words.ts';
import type { RunAt, TaskAt, TaskFacts } from '../../../film/run-at.ts';
import { signOf, toneOf, type Tone } from '../../../parts/tone.ts';
import { lookOf, shownState, type TaskLook } from '../task-look.ts';
import { HIGH, LOW, PIPS_MAX, type GraphBox } from './graph-model.ts';

interface Pip {
  task: string;
  label: string;
  state: TaskState;
  tone: Tone;
  sign: string;
}

export interface BoxLook extends TaskLook {
  label: string;
  pips: readonly Pip[];
  /** In place of pips where they are too many: how many there are of each tone. */
  bar: readonly { tone: Tone; count: number }[];
  /** Its place may be higher. */
  height: number;
}

const GROUPS: Record<TaskFacts['kind'], string> = {
  'for-each': 'for each',
  uses: 'workflow',
  handoff: 'handoff',
  race: 'race',
  continuous: 'continuous',
  approve: 'asks you',
  work: 'tasks',
};
const TONES: readonly Tone[] = ['good', 'bad', 'ask', 'busy', 'still'];

/** What is asked for again at the same moment is not made again. */
export function boxLooks(at: RunAt): (box: GraphBox) => BoxLook {
  const known = new Map<string, BoxLook>();
  return (box) => {
    const found = known.get(box.id);
    if (found) return found;
    const made = makeLook(box, at);
    known.set(box.id, made);
    return made;
  };
}

function makeLook(box: GraphBox, at: RunAt): BoxLook {
  const { id, label, kind, group, members } = box;
  const task = at.task(id);
  const nothing = { pips: [], bar: [], label };
  if (kind === 'task' && members.length === 1) {
    if (!task) return { ...NOT_YET, ...nothing, height: LOW };
    const look = lookOf(task, at.atMs);
    const isHigh = look.does !== '' && look.tone !== 'still' && box.height >= HIGH;
    return { ...look, ...nothing, height: isHigh ? HIGH : LOW };
  }
  const within = kind === 'frame' ? childrenOf(at, id) : box.pips.flatMap((pip) => at.task(pip) ?? []);
  const states = within.map(({ view }) => shownState(view));
  const state = members.length > 1 || !task ? worstOf(states) : shownState(task.view);
  const done = states.filter((each) => each === 'done').length;
  const all = members.length > 1 ? countsOf(states) : `${GROUPS[group]} · ${done} of ${within.length} done`;
  const isMany = box.pips.length > PIPS_MAX;
  const tones = states.map((each) => toneOf(each));
  return {
    label,
    tone: toneOf(state),
    sign: signOf(state),
    state,
    nth: '',
    detail: all,
    does: '',
    pips: isMany || kind === 'frame' ? [] : within.map(pipOf),
    bar: isMany ? TONES.map((tone) => ({ tone, count: tones.filter((each) => each === tone).length })) : [],
    height: box.height,
  };
}

const NOT_YET: TaskLook = { tone: 'still', sign: '○', state: 'waiting', nth: '', detail: 'waits', does: '' };

function pipOf({ facts, view }: TaskAt): Pip {
  const state = shownState(view);
  return { task: facts.id, label: facts.label, state, tone: toneOf(state), sign: signOf(state) };
}

function childrenOf(at: RunAt, parent: string): TaskAt[] {
  return at.tasks.filter(({ facts }) => facts.parent === parent);
}

function countedStates(states: readonly TaskState[]): { state: TaskState; count: number }[] {
  const byState: Partial<Record<TaskState, number>> = {};
  for (const state of states) byState[state] = (byState[state] ?? 0) + 1;
  return countStates(byState);
}

/** What a person has to look at first. */
function worstOf(states: readonly TaskState[]): TaskState {
  return countedStates(states)[0]?.state ?? 'waiting';
}

function countsOf(states: readonly TaskState[]): string {
  const counts = countedStates(states);
  if (counts.length === 1) return `${count(states.length, 'task')}, all ${counts[0]!.state}`;
  return counts.map(({ state, count: n }) => `${n} ${state}`).join(', ');
}
