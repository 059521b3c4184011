/** The runtime for OpenCode: `opencode run --format json`, with settings of ours alone. */
import { createHash } from 'node:crypto';
import { lstat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { BosunError } from '../contract/errors.ts';
import { failed } from './agent-command.ts';
import { makeHome, writeAnew } from './agent-home.ts';
import { runProgram, type AgentProgram } from './agent-program.ts';
import { chooseModel } from './choose-model.ts';
import { needAgent } from './find-agent.ts';
import { firstWords } from './first-words.ts';
import { askForJson } from './json-in-text.ts';
import { opencodeConfig } from './opencode-config.ts';
import { opencodeReader } from './opencode-events.ts';
import type { Job, Result, Runtime } from './runtime.ts';

/** Nothing is fetched, shared or updated, and the repository's own settings are not read. */
const QUIET = {
  OPENCODE_DISABLE_AUTOUPDATE: '1',
  OPENCODE_DISABLE_MODELS_FETCH: '1',
  OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
  OPENCODE_DISABLE_SHARE: '1',
  OPENCODE_DISABLE_PROJECT_CONFIG: '1',
  OPENCODE_PURE: '1',
  // It asks a registry once in a new home, and waits for the answer.
  npm_config_registry: 'http://127.0.0.1:9/',
};

/** Its failures are printed, since its events keep silent of those that it tries to get over, for ever. */
const LOGS = ['--print-logs', '--log-level', 'ERROR'];

export const opencode: Runtime = {
  async run(job: Job): Promise<Result> {
    try {
      const known = await withKnownSession(job);
      return await runProgram(known, await prepare(known));
    } catch (error) {
      if (!(error instanceof BosunError)) throw error;
      const { message } = error;
      return { outcome: failed('start', message), output: null, error: { kind: 'crashed', message } };
    }
  },
};

/** A conversation belongs to the directory that it was begun in: where that is gone, OpenCode fails. So it begins anew. */
export async function withKnownSession(job: Job): Promise<Job> {
  const home = await makeHome(job, 'opencode');
  const mark = `place-${createHash('sha256').update(job.cwd).digest('hex').slice(0, 16)}`;
  const isKnown = await lstat(path.join(home, mark)).then(
    () => true,
    () => false,
  );
  await writeAnew(home, mark, '');
  return job.session && !isKnown ? { ...job, session: undefined } : job;
}

async function prepare(job: Job): Promise<AgentProgram> {
  const found = needAgent('opencode', job.agent);
  const { env, model } = await opencodeSurroundings(job);
  const options = ['run', '--format', 'json', '--title', 'bosun', '--model', model, ...LOGS];
  return {
    name: 'opencode',
    env,
    prompt: firstWords(job, job.session, job.schema && askForJson(job.schema)),
    argv(session) {
      if (!session) return [...found.argv, ...options];
      return [...found.argv, ...options, '--session', session.id, ...(session.fork ? ['--fork'] : [])];
    },
    ...opencodeReader(model),
  };
}

/** What OpenCode finds around it, also where it is talked with in another way. */
export async function opencodeSurroundings(
  job: Job,
): Promise<{ env: Record<string, string>; model: string }> {
  const choice = chooseModel(job, ['anthropic', 'openai', 'gemini']);
  const home = await makeHome(job, 'opencode');
  const [configFile, promptFile] = ['opencode.json', 'instructions.md'].map((name) =>
    path.join(job.files, name),
  );
  const { config, model } = opencodeConfig(
    job,
    choice,
    job.agent?.prompt === undefined ? undefined : promptFile,
  );
  await writeFile(configFile!, JSON.stringify(config));
  if (job.agent?.prompt !== undefined) await writeFile(promptFile!, job.agent.prompt);
  return {
    model,
    env: {
      ...QUIET,
      OPENCODE_CONFIG: configFile!,
      XDG_CONFIG_HOME: path.join(job.files, 'config'), // anew each time: an earlier attempt cannot set anything
      XDG_DATA_HOME: path.join(home, 'data'),
      XDG_STATE_HOME: path.join(home, 'state'),
      XDG_CACHE_HOME: path.join(home, 'cache'),
    },
  };
}
