/** The commands about remotes and the user's own repository. Words only: what they do is in their files. */
import type { Command, Option } from './command.ts';
import { RUN_ARGUMENT, TRUST, UNFENCED } from './table-options.ts';

const REMOTE: Option = {
  flags: '--remote <remote>',
  about: 'a remote or an address; defaults to the one of your branch, else origin',
};
const TOKEN_FILE: Option = {
  flags: '--token-file <file>',
  about: 'log in with the token in this file (mode 600)',
};

const FEEDBACK = ['--feedback'] as const;

export const REMOTE_COMMANDS: Command[] = [
  {
    name: 'push',
    group: 'Decide',
    summary: 'push what a run did to a remote, as a branch',
    asks: ['push'],
    arguments: [RUN_ARGUMENT],
    options: [
      REMOTE,
      { flags: '--branch <branch>', about: 'what to call it there; defaults to bosun/<run>' },
      TOKEN_FILE,
      { flags: '--json', about: 'print it as JSON' },
    ],
    examples: [
      ['push', 'the latest run, as bosun/<run> of origin'],
      ['push calculator-3 --branch calculator', 'under another name'],
    ],
    notes: 'Nothing is ever forced: if somebody else pushed to that branch, theirs stays.',
    load: () => import('./commands/push.ts'),
  },
  {
    name: 'pr',
    group: 'Decide',
    summary: 'make a pull request of what a run did, or give its review comments to the agent',
    asks: ['pr', 'prFeedback'],
    arguments: [RUN_ARGUMENT],
    options: [
      REMOTE,
      { flags: '--branch <branch>', about: 'the branch to push it to; defaults to bosun/<run>' },
      {
        flags: '--base <branch>',
        about: 'where it should go; defaults to your branch, if it is there',
        not: FEEDBACK,
      },
      { flags: '--title <text>', about: 'its title; defaults to what the run did', not: FEEDBACK },
      { flags: '--draft', about: 'as a draft', not: FEEDBACK },
      TOKEN_FILE,
      { flags: '--feedback', about: 'start a run on top of it whose agent gets the review comments' },
      {
        flags: '-t, --task <task>',
        about: 'with --feedback: give them to the agent of this task',
        needs: FEEDBACK,
      },
      {
        flags: '--usd <dollars>',
        about: 'with --feedback: stop and ask when this much is spent',
        needs: FEEDBACK,
      },
      { ...UNFENCED, needs: FEEDBACK },
      { ...TRUST, needs: FEEDBACK },
      { flags: '--json', about: 'print it as JSON; with --feedback, events as NDJSON' },
    ],
    examples: [
      ['pr', 'push the latest run and open a pull request of it'],
      ['pr calculator-3 --base develop --draft', 'into another branch, as a draft'],
      ['pr calculator-3 --feedback', 'let the agent address the review comments'],
    ],
    notes:
      'It is opened through gh (GitHub) or glab (GitLab), with their logins; without them, or elsewhere, the link to open it is printed.',
    load: () => import('./commands/pr.ts'),
  },
  {
    name: 'git',
    group: 'Keep',
    summary: 'clone, fetch, branch, commit, push, status and diff, running nothing a repository names',
    asks: ['clone', 'fetch', 'gitPush', 'branch', 'commit', 'gitStatus', 'gitDiff'],
    arguments: [
      {
        name: 'action',
        about: 'what to do',
        required: true,
        choices: ['clone', 'fetch', 'branch', 'commit', 'push', 'status', 'diff'],
      },
      { name: 'words', about: 'clone: an address and a directory; branch: its name', many: true },
    ],
    options: [
      { ...REMOTE, needs: ['fetch', 'push'] },
      {
        flags: '--branch <branch>',
        about: 'clone, fetch, push: this branch',
        needs: ['clone', 'fetch', 'push'],
      },
      { flags: '--depth <count>', about: 'clone: only so many commits of the history', needs: ['clone'] },
      { flags: '-m, --message <text>', about: 'commit: its message', needs: ['commit'] },
      { flags: '--stat', about: 'diff: only file names and line counts', needs: ['diff'] },
      { ...TOKEN_FILE, needs: ['clone', 'fetch', 'push'] },
      { flags: '--json', about: 'print it as JSON' },
    ],
    examples: [
      ['git clone https://github.com/owner/repository.git', 'into the directory repository'],
      ['git clone git@example.com:team/app.git app --depth 1', 'by ssh, without its history'],
      ['git commit -m "Fix the typos"', 'everything that changed, as one commit'],
      ['git push --token-file ~/.config/bosun/token', 'your current branch'],
    ],
    notes: 'For programs and scripts: hooks, and filters and helpers that a repository names, never run.',
    load: () => import('./commands/git.ts'),
  },
];
