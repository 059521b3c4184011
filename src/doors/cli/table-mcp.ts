/** What is typed so that agents outside of bosun can use it. Words only: what they do is in their files. */
import { wordList } from '../../base/word-list.ts';
import { MCP_CLIENTS } from '../../contract/mcp-clients.ts';
import type { Command, Option } from './command.ts';

export const MCP_COMMANDS: Command[] = [
  {
    name: 'mcp',
    group: 'Keep',
    summary: 'serve this repository as MCP tools, for an agent outside of bosun',
    asks: [
      'start',
      'status',
      'budget',
      'pause',
      'unpause',
      'cancel',
      'steer',
      'history',
      'diff',
      'merge',
      'answer',
    ],
    examples: [['mcp', 'started by an agent, not by you: bosun init --mcp writes the entry for it']],
    notes:
      'It speaks the Model Context Protocol on stdin and stdout. Runs that it starts go on when the agent ends.',
    load: () => import('./commands/mcp.ts'),
  },
];

/** Of `bosun init`. */
export const INIT_MCP: Option[] = [
  {
    flags: '--mcp',
    about: 'instead of a workflow, register bosun mcp with your agents',
    not: ['--template', '--agent', '--command', '--check'],
  },
  {
    flags: '--for <agent>',
    about: `with --mcp, ${wordList(MCP_CLIENTS, 'or')}; defaults to those that are installed; may be repeated`,
    repeat: true,
    needs: ['--mcp'],
  },
  {
    flags: '--user',
    about: 'with --mcp: in your own settings, for all repositories',
    needs: ['--mcp'],
  },
];
