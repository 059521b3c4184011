/** Which agents are installed on this machine. It looks on the PATH, and starts none of them. */
import type { RuntimeName } from '../../contract/runtimes.ts';
import { findAgent } from '../../runtime/agent/find-agent.ts';
import { RUNTIMES_BY_NAME } from '../../runtime/runtimes.ts';
import { findProgram } from '../../system/process/process.ts';

export interface InstalledAgent {
  runtime: RuntimeName;
  /** For agents that are named by what starts them. */
  command?: string;
}

/** In the order in which people are told of them. */
export function installedAgents(): InstalledAgent[] {
  return Object.values(RUNTIMES_BY_NAME).flatMap(({ name, program, sdk, agents = [] }): InstalledAgent[] => {
    if (program) {
      const isThere = sdk ? sdk.find() !== undefined : findAgent({ program }) !== undefined;
      return isThere ? [{ runtime: name }] : [];
    }
    const known = agents.filter((agent) => !agent.behind && findProgram(agent.program) !== undefined);
    return known.map(({ command }) => ({ runtime: name, command }));
  });
}
