/** Rows of the table of tools: what an agent has for agents that it starts itself. It does nothing itself. */
import type { Child, Children } from '../contract/child.ts';
import { RUNTIMES } from '../contract/runtimes.ts';
import { tool } from './tool.ts';

const PROMPT_CHARS_MAX = 128 * 1024;
const NAME_CHARS_MAX = 1000;
const GLOBS_MAX = 50;
const WAIT_SECONDS_MAX = 600;

export const CHILD_TOOLS = {
  spawn: tool({
    description:
      'Starts another agent on a task of its own, which works beside you in a workspace of its own: on the files that ' +
      'your task started from, without what you have changed since. Use it for work that can really be done in ' +
      'parallel. It may do no more than you may, and what it spends is yours. Its work has to pass what yours has to, ' +
      'and is merged as a commit of its own; your task is done when your children are. Say in the prompt all that it ' +
      'has to know: it sees nothing of your conversation.',
    input: {
      type: 'object',
      properties: {
        prompt: { type: 'string', maxLength: PROMPT_CHARS_MAX, description: 'What the child is to do.' },
        name: { type: 'string', maxLength: 64, description: 'What to call it: letters, digits, - and _.' },
        agent: {
          type: 'string',
          maxLength: 64,
          description: 'An agent of the workflow, by name; your own kind where you name none.',
        },
        runtime: {
          type: 'string',
          enum: RUNTIMES,
          description: 'In place of an agent of the workflow.',
        },
        model: { type: 'string', maxLength: NAME_CHARS_MAX },
        write: {
          type: 'array',
          items: { type: 'string' },
          maxItems: GLOBS_MAX,
          description:
            'Globs of what it may change, such as src/api/**; at most what you may change yourself.',
        },
        check: {
          type: 'string',
          maxLength: NAME_CHARS_MAX,
          description: 'A command that its work must pass, besides what yours must.',
        },
        usd: {
          type: 'number',
          minimum: 0.0001,
          maximum: 1_000_000,
          description: 'What it may spend, in dollars, of what you may.',
        },
        tokens: {
          type: 'number',
          minimum: 1,
          maximum: 1_000_000_000_000,
          description: 'The same in tokens.',
        },
        wait: {
          type: 'number',
          minimum: 0,
          maximum: WAIT_SECONDS_MAX,
          description: 'Wait so many seconds for its end; otherwise you are answered once it is there.',
        },
      },
      required: ['prompt'],
    },
    command: {
      verb: 'spawn',
      durations: ['wait'],
      usage: '<prompt>...',
      options: {
        name: ['--name <name>', 'spawn: what to call the child; serve: what others call the port'],
        agent: ['--agent <agent>', 'spawn: an agent of the workflow'],
        runtime: ['--runtime <runtime>', 'spawn: in place of an agent'],
        model: ['--model <model>', 'spawn: the model of that runtime'],
        write: ['--write <globs>', 'spawn: what it may change, several with commas between them'],
        check: ['--check <command>', 'spawn: a command that must pass'],
        usd: ['--usd <dollars>', 'spawn: what it may spend'],
        tokens: ['--tokens <count>', 'spawn: the same in tokens'],
        wait: ['--wait <duration>', 'spawn: wait this long for it to end, such as 5m'],
      },
      rest: 'prompt',
      example: ['--agent tester "Test src/api.ts"', 'another agent, at work beside you'],
    },
    say: (child: Child) => [tellChild(child)],
    isYes: ({ state }) => !['failed', 'cancelled', 'skipped'].includes(state),
  }),

  children: tool({
    description: 'Lists the agents that you started with spawn: whether each is at work, and what it gave.',
    input: { type: 'object', properties: {} },
    command: { verb: 'children', usage: '', example: ['', 'the agents that you started'] },
    say: ({ children, leftOut = 0 }: Children) => [
      ...children.map(tellChild),
      ...(leftOut > 0 ? [`and ${leftOut} more that ended before these`] : []),
    ],
    nothing: 'you have no children',
  }),

  cancel_child: tool({
    description:
      'Stops an agent that you started and do not want any more. What it did is kept, and not merged.',
    input: {
      type: 'object',
      properties: {
        child: { type: 'string', maxLength: NAME_CHARS_MAX, description: 'Its name or its task.' },
      },
      required: ['child'],
    },
    command: { verb: 'cancel-child', usage: '<child>', example: ['child-1', 'stop it'] },
    say: ({ task }: Child) => [`${task} is being cancelled`],
  }),
};

function tellChild({ task, state, message, output }: Child): string {
  const given = output === undefined ? '' : typeof output === 'string' ? output : JSON.stringify(output);
  const said = [message, given].filter(Boolean).join(': ');
  return `${task} ${state}${said === '' ? '' : `: ${said}`}`;
}
