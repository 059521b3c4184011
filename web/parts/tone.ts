/** How a state of a task or a run looks: its sign and its tone, the same everywhere. */
import type { ShownRunState, TaskState } from '../../src/contract/run.ts';

export type Tone = 'good' | 'bad' | 'busy' | 'ask' | 'still';

const LOOKS: Record<TaskState | ShownRunState, [sign: string, tone: Tone]> = {
  waiting: ['○', 'still'],
  ready: ['○', 'still'],
  running: ['●', 'busy'],
  delayed: ['◷', 'ask'],
  asking: ['?', 'ask'],
  merging: ['●', 'busy'],
  expanded: ['●', 'busy'],
  done: ['✓', 'good'],
  failed: ['✗', 'bad'],
  skipped: ['–', 'still'],
  cancelled: ['■', 'still'],
  cancelling: ['■', 'busy'],
  interrupted: ['!', 'ask'],
  paused: ['‖', 'ask'],
  pending: ['○', 'still'],
};

export function signOf(state: TaskState | ShownRunState): string {
  return LOOKS[state][0];
}

export function toneOf(state: TaskState | ShownRunState): Tone {
  return LOOKS[state][1];
}
