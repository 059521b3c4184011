/** What an agent can ask of us, as tools for a model: names, descriptions, and answers in words. It asks nobody. */
import type { AccessAnswer, OwnerSaid, PendingAccess } from '../contract/access.ts';

export interface Tool {
  name: string;
  description: string;
  inputSchema: { type: 'object'; properties: Record<string, unknown>; required?: string[] };
  /** What the engine calls it. */
  method: string;
  words(result: unknown): string;
}

export const TOOLS: readonly Tool[] = [
  {
    name: 'request_access',
    description:
      'Asks for permission to change files outside of your scope. You can read the whole repository, but you may ' +
      'write only some of it: where a write fails with "Permission denied" or "Read-only file system" and your ' +
      'task needs that change, ask here, and do not look for a way around. The answer may take minutes, since a ' +
      'person or another agent may be asked. Where it is granted you can write at once, in this very session. ' +
      'Where it is refused, go on without: do what you can within your scope and say what you could not do.',
    inputSchema: {
      type: 'object',
      properties: {
        paths: {
          type: 'array',
          items: { type: 'string' },
          minItems: 1,
          maxItems: 50,
          description:
            'Files, or globs such as src/api/**, relative to the top of the repository. Name all that you will change and no more: what you change beside it is left out of your result.',
        },
      },
      required: ['paths'],
    },
    method: 'request_access',
    words: (result) => accessWords(result as AccessAnswer),
  },
  {
    name: 'inbox',
    description:
      'Lists what other agents ask of you: they want to change files that your task owns, and wait for your answer. ' +
      'Look here between the steps of your work, and answer each with answer_access.',
    inputSchema: { type: 'object', properties: {} },
    method: 'inbox',
    words: (result) => inboxWords(result as { requests: PendingAccess[] }).join('\n') || 'nobody asks',
  },
  {
    name: 'answer_access',
    description:
      'Answers a request of your inbox. Say yes where the other agent may change these files now, and no where it ' +
      'would get into the way of your own changes.',
    inputSchema: {
      type: 'object',
      properties: {
        id: { type: 'string', description: 'As inbox says it, such as implement+1.' },
        answer: { type: 'string', enum: ['yes', 'no'] },
      },
      required: ['id', 'answer'],
    },
    method: 'answer',
    words: (result) => saidWords(result as OwnerSaid),
  },
];

export function accessWords({ granted, globs, why }: AccessAnswer): string {
  return onOneLine(`${granted ? 'granted' : 'refused'}: ${globs.join(' ')} (${why})`);
}

/** A line for each. */
export function inboxWords({ requests }: { requests: PendingAccess[] }): string[] {
  return requests.map(({ id, task, globs }) => onOneLine(`${id} ${task} asks for ${globs.join(' ')}`));
}

export function saidWords({ accepted, why }: OwnerSaid): string {
  return onOneLine(`${accepted ? 'answered' : 'not answered'}: ${why}`);
}

/** What others said must not look like a line of ours. */
function onOneLine(text: string): string {
  return text.replaceAll(/\p{C}+/gu, ' ');
}
