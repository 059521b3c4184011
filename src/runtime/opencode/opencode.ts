/** The runtime for OpenCode: `opencode run --format json`, with settings of ours alone. */
import { createHash } from 'node:crypto';
import { lstat, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { BosunError } from '../../contract/errors.ts';
import { failed } from '../agent/command.ts';
import { makeHome, writeAnew } from '../agent/home.ts';
import { runProgram, type AgentProgram } from '../agent/program.ts';
import { chooseModel } from '../agent/choose-model.ts';
import { needAgent } from '../agent/find-agent.ts';
import { firstWords } from '../agent/first-words.ts';
import { askForJson } from '../output/json-in-text.ts';
import { opencodeConfig } from './config.ts';
import { OPENCODE } from './descriptor.ts';
import { opencodeReader } from './events.ts';
import type { Job, Result, Runtime } from '../runtime.ts';

/** Its failures are printed, since its events keep silent of those that it tries to get over, for ever. */
const LOGS = ['--print-logs', '--log-level', 'ERROR'];

/** Moves a conversation to where this is run: given are its id, a file on the way, and what to start. */
const FETCH = 'id=$1 file=$2; shift 2; "$@" export "$id" >"$file" && "$@" import "$file"';

export const opencode: Runtime = {
  async run(job: Job): Promise<Result> {
    try {
      return await runProgram(job, await prepare(job));
    } catch (error) {
      if (!(error instanceof BosunError)) throw error;
      const { message } = error;
      return { outcome: failed('start', message), output: null, error: { kind: 'crashed', message } };
    }
  },
};

async function prepare(job: Job): Promise<AgentProgram> {
  const found = needAgent(OPENCODE, job.agent);
  const { env, model } = await opencodeSurroundings(job);
  const isHere = await wasHere(job);
  const options = ['run', '--format', 'json', '--title', 'bosun', '--model', model, ...LOGS];
  return {
    name: 'opencode',
    env,
    prompt: (session) => firstWords(job, session, job.schema && askForJson(job.schema)),
    ...(job.session && !isHere && { fetch: fetchWith(job, job.session.id, found.argv) }),
    argv(session) {
      return [...found.argv, ...options, ...(session ? OPENCODE.resume(session) : [])];
    },
    ...opencodeReader(model),
  };
}

/** Whether an earlier attempt of the task worked in the same directory; a later one will find that this one did. */
export async function wasHere(job: Job): Promise<boolean> {
  const home = await makeHome(job, 'opencode');
  const mark = `place-${createHash('sha256').update(job.cwd).digest('hex').slice(0, 16)}`;
  const isKnown = await lstat(path.join(home, mark)).then(
    () => true,
    () => false,
  );
  await writeAnew(home, mark, '');
  return isKnown;
}

/**
 * A conversation belongs to the directory that it was begun in, and with that gone OpenCode fails, also where it is to
 * copy the conversation. What it imports belongs to the directory in which it does so.
 */
function fetchWith(job: Job, id: string, opencode: string[]): string[] {
  const file = path.join(job.files, 'conversation.json');
  return ['/bin/sh', '-c', FETCH, 'sh', id, file, ...opencode];
}

/** What OpenCode finds around it, also where it is talked with in another way. */
export async function opencodeSurroundings(
  job: Job,
): Promise<{ env: Record<string, string>; model: string }> {
  const choice = chooseModel(job, OPENCODE.dialects);
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
  const settings = path.join(job.files, 'config'); // anew each time: an earlier attempt cannot set anything
  await keepFromInstalling(path.join(settings, 'opencode'));
  return {
    model,
    env: {
      ...OPENCODE.variables,
      OPENCODE_CONFIG: configFile!,
      XDG_CONFIG_HOME: settings,
      XDG_DATA_HOME: path.join(home, 'data'),
      XDG_STATE_HOME: path.join(home, 'state'),
      XDG_CACHE_HOME: path.join(home, 'cache'),
    },
  };
}

/**
 * OpenCode installs this package beside its settings at every start, for plugins, of which ours have none. Where a lock
 * file names it, it is taken to be there: a start costs a fifth less.
 */
async function keepFromInstalling(settings: string): Promise<void> {
  await mkdir(path.join(settings, 'node_modules'), { recursive: true });
  const lock = { packages: { '': { dependencies: { '@opencode-ai/plugin': '*' } } } };
  await writeFile(path.join(settings, 'package-lock.json'), JSON.stringify(lock));
}
