/** What is known of agents that speak the Agent Client Protocol before one is started. It loads nothing of the runtime. */
import path from 'node:path';
import { packagesOf, realOf } from '../agent/find-agent.ts';
import type { RuntimeDescriptor } from '../descriptor.ts';
import { KNOWN_AGENTS, knownAgent } from './known-agent.ts';

export const ACP: RuntimeDescriptor = {
  name: 'acp',
  load: async () => (await import('./acp.ts')).acp,
  agents: KNOWN_AGENTS,
  logins: KNOWN_AGENTS.flatMap(({ login }) => login ?? []),
  obeys: (agent) => knownAgent(agent?.command)?.obeys ?? [],
  reads(agent) {
    const word = Array.isArray(agent?.command) ? agent.command[0]! : undefined;
    const file = word?.includes('/') ? realOf(path.resolve(word)) : undefined;
    return file === undefined ? [] : [packagesOf(file)];
  },
};
