/** Rows of the table of tools: what an agent has to let others reach a port of its sandbox. It does nothing itself. */
import { hostOf, type ServeAnswer, type ServiceEnded } from '../contract/services.ts';
import { tool } from './tool.ts';

/** More than a name may have: what is wrong with it is said by whoever checks it. */
const NAME_CHARS_MAX = 1000;
const PORT_MAX = 65_535;

export const SERVE_TOOLS = {
  serve: tool({
    description:
      'Gives a port of your sandbox a name, so that tasks of this run that need yours can reach the server that you ' +
      'started on it: as http://NAME.bosun, through their proxy. So can the user. It ends with your attempt: start the ' +
      'server in the background, call this, and stay at work for as long as others need it. You reach your own server ' +
      'at 127.0.0.1; others wait for it with wait_for.',
    input: {
      type: 'object',
      properties: {
        port: {
          type: 'number',
          minimum: 1,
          maximum: PORT_MAX,
          description: 'Where your server listens, on 127.0.0.1.',
        },
        name: {
          type: 'string',
          maxLength: NAME_CHARS_MAX,
          description: 'What others call it, such as web: a-z, 0-9 and -.',
        },
        stop: { type: 'boolean', description: 'Ends it, in place of giving it.' },
      },
      required: ['name'],
    },
    command: {
      verb: 'serve',
      usage: '<port>',
      options: {
        name: ['--name <name>', 'spawn: what to call the child; serve: what others call the port'],
        stop: ['--stop', 'serve: stop serving it'],
      },
      example: ['3000 --name web', 'others reach your port 3000 at http://web.bosun'],
    },
    say: (answer: ServeAnswer | ServiceEnded) => {
      if ('hasEnded' in answer) return [`${hostOf(answer.name)} is gone`];
      const { url, port, isListening } = answer;
      return [
        `${url} is your port ${port}`,
        ...(isListening ? [] : [`nothing listens on 127.0.0.1:${port} yet: start your server`]),
      ];
    },
  }),
};
