/** The commands about what waits for an engine and who was started. Words only, as in table.ts. */
import type { Command } from './command.ts';
import { RUN_ARGUMENT } from './table-options.ts';

export const WORK: Command = {
  name: 'work',
  group: 'Start',
  summary: 'drive the runs that wait in the queue, the oldest first',
  asks: ['work'],
  options: [
    { flags: '--at-once <count>', about: 'how many runs at once; defaults to the slots of this machine' },
    { flags: '--stay', about: 'keep looking when none is left; Ctrl-C ends it' },
    { flags: '--json', about: 'print each run that starts or ends as a line of JSON' },
  ],
  examples: [
    ['work', 'until the queue is empty'],
    ['work --stay --at-once 4', 'four runs at once, also those that are queued later'],
  ],
  notes:
    'Runs get there with bosun run --queue and bosun exec --queue. Several bosun work can share one queue. Ctrl-C once stops what it drives gracefully and keeps the work, twice stops now; queued runs stay queued.',
  load: () => import('./commands/work.ts'),
};

export const AGENTS: Command = {
  name: 'agents',
  group: 'Look',
  summary: 'list the agents of a run, with their parents and states',
  asks: ['agents'],
  arguments: [RUN_ARGUMENT],
  options: [{ flags: '--json', about: 'print each agent as a line of JSON' }],
  examples: [
    ['agents', 'of the only run at work, else the latest'],
    ['agents fix-3 --json', 'for a program'],
  ],
  load: () => import('./commands/agents.ts'),
};
