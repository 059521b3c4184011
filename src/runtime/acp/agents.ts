/** What an agent of the runtime `acp` is started with: those that are known get more than the usual variables. It starts nothing. */
import path from 'node:path';
import { BosunError } from '../../contract/errors.ts';
import type { PreparedAgent } from '../descriptor.ts';
import type { Job } from '../runtime.ts';
import { knownAgent, commandWords } from './known-agent.ts';

export interface AcpAgent extends Omit<PreparedAgent, 'first'> {
  name: string;
  argv: string[];
}

export async function prepareAcpAgent(job: Job): Promise<AcpAgent> {
  const command = job.agent?.command;
  if (command === undefined) {
    throw new BosunError(
      'system',
      'cannot start acp: no command is given; name the agent in `command`, such as [gemini, --acp]',
    );
  }
  const { first, ...found }: PreparedAgent = (await knownAgent(command)?.prepare(job)) ?? { env: {} };
  const argv = typeof command === 'string' ? ['/bin/sh', '-c', command] : command;
  return {
    ...found,
    name: path.basename(commandWords(command)[0] ?? 'acp'),
    argv: first === undefined ? argv : ['/bin/sh', '-c', `${first}\nexec "$@"`, 'sh', ...argv],
    env: { ...job.env, ...usual(job), ...found.env },
  };
}

/** Where most agents look for their models. */
function usual({ models }: Job): Record<string, string> {
  if (!models) return {};
  const first = (dialect: string): string =>
    Object.entries(models.providers).find(([, of]) => of === dialect)?.[0] ?? dialect;
  return {
    ANTHROPIC_BASE_URL: `${models.baseUrl}/${first('anthropic')}`,
    ANTHROPIC_API_KEY: models.key,
    OPENAI_BASE_URL: `${models.baseUrl}/${first('openai')}`,
    OPENAI_API_KEY: models.key,
    GOOGLE_GEMINI_BASE_URL: `${models.baseUrl}/${first('gemini')}`,
    GEMINI_API_KEY: models.key,
  };
}
