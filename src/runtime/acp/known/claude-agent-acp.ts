/** Claude Code behind the Agent Client Protocol: where it looks for models, settings and sessions. */
import { chooseModel } from '../../agent/choose-model.ts';
import { makeHome } from '../../agent/home.ts';
import { CLAUDE_CODE } from '../../claude-code/descriptor.ts';
import { CLAUDE_LOGIN } from '../../claude-code/login.ts';
import type { KnownAgent } from '../../descriptor.ts';

export const CLAUDE_AGENT_ACP: KnownAgent = {
  isProgram: /^claude(-code|-agent)?-acp$/,
  program: 'claude-agent-acp',
  command: 'claude-agent-acp',
  package: '@agentclientprotocol/claude-agent-acp',
  dialects: CLAUDE_CODE.dialects,
  obeys: [],
  login: CLAUDE_LOGIN,
  async prepare(job) {
    const { model } = chooseModel(job, this.dialects);
    return {
      env: {
        CLAUDE_CONFIG_DIR: await makeHome(job, 'claude'),
        ...CLAUDE_CODE.variables,
        ...(model !== undefined && { ANTHROPIC_MODEL: model }),
      },
      // Settings of the repository would bring hooks, servers and permissions of a stranger; CLAUDE.md is read all the same.
      // A model is not asked for a title where there is one, nor for what a person might want to say next.
      meta: {
        claudeCode: {
          options: {
            settingSources: [],
            strictMcpConfig: true,
            additionalDirectories: [job.cwd],
            title: 'bosun',
            promptSuggestions: false,
          },
        },
      },
    };
  },
};
