/** Codex behind the Agent Client Protocol: where it looks for models, settings and sessions. */
import { chooseModel } from '../../agent/choose-model.ts';
import { CODEX } from '../../codex/descriptor.ts';
import type { KnownAgent } from '../../descriptor.ts';

export const CODEX_ACP: KnownAgent = {
  isProgram: /^codex-acp$/,
  program: 'codex-acp',
  command: 'codex-acp',
  package: '@agentclientprotocol/codex-acp',
  dialects: CODEX.dialects,
  // It tells Codex to trust every repository that it is started in.
  obeys: ['.codex'],
  behind: CODEX,
  async prepare(job) {
    const { codexSurroundings } = await import('../../codex/codex.ts');
    const alone = { ...job, agent: { ...job.agent!, prompt: undefined }, mcp: {} };
    const env = await codexSurroundings(alone, chooseModel(job, this.dialects), true);
    // Its own sandbox is off, since ours stands around it.
    return {
      env: { ...env, INITIAL_AGENT_MODE: 'agent-full-access', MODEL_PROVIDER: 'bosun', NO_BROWSER: '1' },
    };
  },
};
