/** The commands about what bosun keeps on the disk. Words only: what they do is in their files. */
import type { Command } from './command.ts';

export const DISK_COMMANDS: Command[] = [
  {
    name: 'workspaces',
    group: 'Keep',
    summary: 'list the workspaces and their sizes, or clean them up',
    asks: ['workspaces', 'clean'],
    arguments: [{ name: 'action', about: 'clean removes those no run needs', choices: ['clean'] }],
    options: [{ flags: '--json', about: 'print each workspace as a line of JSON' }],
    examples: [
      ['workspaces', 'what is there'],
      ['workspaces clean', 'remove what no run needs any longer'],
    ],
    load: () => import('./commands/workspaces.ts'),
  },
  {
    name: 'prune',
    group: 'Keep',
    summary: 'remove old runs: their journal, snapshots, reports and artifacts',
    asks: ['prune'],
    options: [
      { flags: '--older-than <age>', about: 'only runs that ended longer ago than this, such as 30d' },
      { flags: '--keep <count>', about: 'always keep the newest ones' },
      {
        flags: '--max-size <size>',
        about: 'the oldest first, until all that is left takes at most this, such as 5GB',
      },
      { flags: '--interrupted', about: 'also runs that could still be resumed' },
      { flags: '--unmerged', about: 'also runs whose work is on no branch of yours' },
      { flags: '-n, --dry-run', about: 'show what would go and remove nothing' },
      { flags: '-y, --yes', about: 'do not ask' },
    ],
    examples: [
      ['prune --older-than 30d', 'lists what would go, and asks'],
      ['prune --keep 20 --dry-run', 'what would go if only the newest twenty stayed'],
      ['prune --max-size 5GB --yes', 'for a script'],
    ],
    notes: 'Options add up: only runs that match all of them go.',
    load: () => import('./commands/prune.ts'),
  },
];
