/** The runtime for Codex: `codex exec --json`, its own sandbox off since ours stands around it. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { BosunError } from '../../contract/errors.ts';
import { failed } from '../agent/command.ts';
import { linkAnew, makeHome, writeAnew } from '../agent/home.ts';
import { runProgram, type AgentProgram } from '../agent/program.ts';
import { chooseModel, type ModelChoice } from '../agent/choose-model.ts';
import { codexConfig } from './config.ts';
import { CODEX } from './descriptor.ts';
import { codexReader } from './events.ts';
import { needAgent } from '../agent/find-agent.ts';
import { firstWords } from '../agent/first-words.ts';
import type { Job, Result, Runtime } from '../runtime.ts';

export const codex: Runtime = {
  async run(job: Job): Promise<Result> {
    try {
      const result = await runProgram(job, await prepare(job));
      const isStructured =
        job.schema !== undefined && typeof result.output === 'object' && result.output !== null;
      return isStructured ? { ...result, isStructured } : result;
    } catch (error) {
      if (!(error instanceof BosunError)) throw error;
      const { message } = error;
      return { outcome: failed('start', message), output: null, error: { kind: 'crashed', message } };
    }
  },
};

async function prepare(job: Job): Promise<AgentProgram> {
  const found = needAgent(CODEX, job.agent);
  const choice = chooseModel(job, CODEX.dialects);
  const schemaFile = path.join(job.files, 'schema.json');
  if (job.schema) await writeFile(schemaFile, JSON.stringify(job.schema));
  const options = [
    'exec',
    '--json',
    '--skip-git-repo-check',
    '--ignore-rules',
    '--dangerously-bypass-approvals-and-sandbox',
    ...(job.schema ? ['--output-schema', schemaFile] : []),
  ];
  return {
    name: 'codex',
    env: await codexSurroundings(job, choice),
    prompt: (session) => firstWords(job, session),
    argv(session) {
      return [...found.argv, ...options, ...(session ? CODEX.resume(session) : []), '-'];
    },
    read: codexReader(choice.model, job.session !== undefined),
  };
}

/** What Codex finds around it, also where it is talked with in another way. */
export async function codexSurroundings(
  job: Job,
  choice: ModelChoice,
  isTrusted = false,
): Promise<Record<string, string>> {
  const home = await makeHome(job, 'codex');
  await writeAnew(home, 'config.toml', codexConfig(job, choice, isTrusted));
  // What it reads for all projects: it would read it itself only of a project that is trusted.
  if (!isTrusted) await linkAnew(home, 'AGENTS.md', path.join(job.cwd, 'AGENTS.md'));
  return { CODEX_HOME: home, ...(await temporaryFor(job, home)), BOSUN_MODEL_KEY: job.models?.key ?? '' };
}

/** With a home below the temporary directory it has no `apply_patch` on its PATH; people do work in /tmp. */
async function temporaryFor(job: Job, home: string): Promise<{ TMPDIR?: string }> {
  const usual = path.resolve(job.env.TMPDIR ?? '/tmp');
  if (!home.startsWith(`${usual}${path.sep}`)) return {};
  return { TMPDIR: await makeHome({ memory: job.files }, 'tmp') };
}
