/** Rows of the table of tools: what an agent has to read and use the work of others. It does nothing itself. */
import type { Outputs, ProducedFiles, Take } from '../contract/produced.ts';
import { tool } from './tool.ts';

const NAME_CHARS_MAX = 1000;

export const WORK_TOOLS = {
  outputs: tool({
    description:
      'Gives you what other tasks produced, as files that you can read: the tasks that yours needs, those within yours, ' +
      'or api:NAME for what was published. For each: its output, a summary, the files it changed, the patch, and its ' +
      'artifacts. You start from the changes of what you need: look here for what was said, or for what is newer.',
    input: {
      type: 'object',
      properties: {
        name: {
          type: 'string',
          maxLength: NAME_CHARS_MAX,
          description: 'A task, or api:NAME; all that your task needs if you do not say.',
        },
      },
    },
    command: {
      verb: 'outputs',
      usage: '[task|api:name]',
      example: ['design', 'its output, summary, patch and artifacts, as files'],
    },
    say: ({ produced, more }: Outputs) => [
      ...produced.flatMap(tellProduced),
      ...(more.length > 0 ? [`ask for these by name: ${more.join(', ')}`] : []),
    ],
    nothing: 'your task needs no other task, and has none within',
  }),

  take: tool({
    description:
      'Applies what another task changed (see outputs) to your own files: the whole patch, or nothing of it. With ' +
      'api:NAME: what changed between the version that you started from and the newest. All its files have to be in ' +
      'your scope. If it does not apply, the error says why; then read the patch and make the changes yourself.',
    input: {
      type: 'object',
      properties: {
        name: { type: 'string', maxLength: NAME_CHARS_MAX, description: 'A task, or api:NAME.' },
      },
      required: ['name'],
    },
    command: {
      verb: 'take',
      usage: '<task|api:name>',
      example: ['api:storage', 'the changes of a newer version. Exit code 1: they do not apply'],
    },
    say: ({ name, paths, patch, isApplied, why }: Take) => [
      isApplied
        ? `took ${name}: ${paths.length} changed ${paths.length === 1 ? 'file' : 'files'}`
        : `did not take ${name}, and changed nothing: ${why ?? `apply ${patch} yourself`}`,
    ],
    isYes: ({ isApplied }) => isApplied === true,
  }),
};

function tellProduced({ name, state, changedCount, files, notes }: ProducedFiles): string[] {
  const changed = `${changedCount} changed ${changedCount === 1 ? 'file' : 'files'}`;
  return [
    `${name} (${state}, ${changed}):`,
    ...files.map((file) => `  ${file}`),
    ...notes.map((note) => `  ${note}`),
  ];
}
