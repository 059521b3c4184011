/** OpenCode behind the Agent Client Protocol: where it looks for models, settings and sessions. */
import type { KnownAgent } from '../../descriptor.ts';
import { OPENCODE } from '../../opencode/descriptor.ts';

export const OPENCODE_ACP: KnownAgent = {
  isProgram: /^opencode$/,
  program: 'opencode',
  command: 'opencode acp',
  dialects: OPENCODE.dialects,
  obeys: OPENCODE.obeys(),
  behind: OPENCODE,
  async prepare(job) {
    const { opencodeSurroundings, wasHere } = await import('../../opencode/opencode.ts');
    // The prompt says who the agent is, and servers come with the conversation.
    const { env } = await opencodeSurroundings({
      ...job,
      agent: { ...job.agent!, prompt: undefined },
      mcp: {},
    });
    // A conversation that was begun elsewhere fails it.
    const isHere = await wasHere(job);
    return { env, ...(job.session && !isHere && { beginsAnew: true }) };
  },
};
