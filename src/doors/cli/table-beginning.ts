/** The commands that one begins with. Words only: what they do is in their files. */
import { wordList } from '../../base/word-list.ts';
import { RUNTIMES } from '../../contract/runtimes.ts';
import { TEMPLATE_NAMES } from '../../contract/templates.ts';
import type { Command } from './command.ts';
import { INIT_MCP } from './table-mcp.ts';

export const INIT: Command = {
  name: 'init',
  group: 'Start',
  summary: 'write a first bosun.yaml: a small one that runs as it is, or a template',
  asks: ['init', 'initMcp'],
  options: [
    {
      flags: '--template <name>',
      about: 'what to start with; see --list',
      choices: TEMPLATE_NAMES,
    },
    {
      flags: '--list',
      about: 'list the templates',
      not: ['--template', '--agent', '--command', '--check', '--mcp'],
    },
    {
      flags: '--agent <runtime>',
      about: `${wordList(RUNTIMES, 'or')}; defaults to the first one that is installed`,
    },
    {
      flags: '--command <command>',
      about: 'cli: the command to start (prompt on stdin); acp: the agent to start',
    },
    {
      flags: '--check <command>',
      about: 'the test command; defaults to the one that the files of the repository suggest',
    },
    ...INIT_MCP,
  ],
  examples: [
    ['init', 'three plain commands, with no agent; then: bosun run'],
    ['init --template fix-tests', 'an agent that works until the tests pass'],
    ['init --template review --command "my-agent"', 'with an agent that is a command'],
  ],
  load: () => import('./commands/init.ts'),
};

export const CONFIG: Command = {
  name: 'config',
  group: 'Start',
  summary: 'show what is configured and where each value came from, or change it',
  asks: ['config', 'setConfig', 'unsetConfig'],
  arguments: [
    { name: 'action', about: 'shows everything if not given', choices: ['get', 'set', 'unset'] },
    { name: 'key', about: 'such as agents or budget.usd-per-day' },
    { name: 'value', about: 'for set: text, or YAML for a list or a map' },
  ],
  options: [
    {
      flags: '--repository',
      about: 'change .bosun/config.yaml of this repository, not your own file',
      needs: ['set', 'unset'],
    },
    { flags: '--json', about: 'print it as JSON' },
  ],
  examples: [
    ['config', 'all keys, with their values and origins'],
    ['config set agents 6', 'in your own file; comments in it stay'],
    ['config set --repository isolation required', 'for everybody who has the repository'],
    ['config unset model', 'back to the default'],
  ],
  load: () => import('./commands/config.ts'),
};
