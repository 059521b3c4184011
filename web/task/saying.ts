/** Whether and how something can be said to a task: to its agent that is at work, or to the one of its next attempt. */
import { useNotice } from '../parts/notice.tsx';
import { isOpen } from '../../src/contract/run.ts';
import { ask, pathPart, runPath } from '../data/api.ts';
import type { RunAt, TaskAt } from '../film/run-at.ts';
import { shownState } from '../run/views/task-look.ts';

export interface Saying {
  /** `retry`: it has ended, and can be tried again; with words only where it has an agent. */
  mode: 'steer' | 'retry' | 'none';
  hasAgent: boolean;
  /** Why nothing can be said, or it cannot be tried again yet. */
  why: string;
  /** Resolves with whether it went well; what went wrong is told. */
  steer(text: string): Promise<boolean>;
  retry(feedback: string): Promise<boolean>;
}

export function useSaying(at: RunAt, task: TaskAt): Saying {
  const notice = useNotice();
  const { facts } = task;
  const path = `${runPath(at.repository, at.run.id)}/tasks/${pathPart(facts.id)}`;
  /** That it went well is seen in its log. */
  const post = async (to: string, body: object): Promise<boolean> => {
    try {
      await ask(`${path}/${to}`, { body });
      return true;
    } catch (error) {
      notice.bad(error);
      return false;
    }
  };
  return {
    ...modeOf(at, task),
    hasAgent: facts.kind === 'work' && facts.runtime !== undefined,
    steer: (text) => post('steer', { text }),
    retry: (feedback) => post('retry', feedback === '' ? {} : { feedback }),
  };
}

function modeOf(at: RunAt, { facts, view }: TaskAt): Pick<Saying, 'mode' | 'why'> {
  const none = (why: string): Pick<Saying, 'mode' | 'why'> => ({ mode: 'none', why });
  if (!at.isLive) return none('This is how it was then. Go back to live to say something.');
  const state = shownState(view);
  switch (state) {
    case 'failed':
    case 'cancelled':
    case 'skipped':
      return { mode: 'retry', why: isOpen(at) ? 'It can be tried again once the run has ended.' : '' };
    case 'done':
      if (facts.kind === 'work' && view.changedCount === 0) return none('It is done, and changed no file.');
      return none(view.changedCount ? 'It is done, and its work is on the branch.' : 'It is done.');
    case 'waiting':
    case 'ready':
    case 'delayed':
      return none('Its agent can be spoken to once it is at work.');
    case 'running':
    case 'asking':
      if (facts.kind !== 'work') return none(facts.kind === 'approve' ? '' : 'Speak to the tasks within it.');
      if (!isOpen(at)) return none('Nobody drives the run: resume it first.');
      if (view.steerable === false) return none('A plain command reads no messages.');
      return { mode: 'steer', why: '' };
    default:
      return none(facts.kind === 'work' ? 'Its work is being merged.' : 'Speak to the tasks within it.');
  }
}
