/**
 * What is known of certain ACP agents: where they look for models, settings and sessions. Others get the usual
 * variables and nothing else. It starts nothing.
 */
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { BosunError } from '../../contract/errors.ts';
import { makeHome, writeAnew } from '../agent/home.ts';
import { CLAUDE_VARIABLES } from '../claude-code/variables.ts';
import { chooseModel } from '../agent/choose-model.ts';
import { codexSurroundings } from '../codex/codex.ts';
import { knownAgent, wordsOf, type KnownAgent } from './known-agent.ts';
import { opencodeSurroundings, wasHere } from '../opencode/opencode.ts';
import type { Job } from '../runtime.ts';

export interface AcpAgent {
  name: string;
  argv: string[];
  env: Record<string, string>;
  /** Goes along when a conversation is opened. */
  meta?: { [key: string]: unknown };
  /** The conversation that stands for one to be copied, where its files are copied before it is started. */
  copy?: string;
  /** An earlier conversation would only fail it. */
  beginsAnew?: boolean;
  /** How it is to sign in, where it must. */
  authMethod?: string;
}

/** `first`: what a shell does in the fence before the agent is started. */
type Known = (job: Job) => Promise<Omit<AcpAgent, 'name' | 'argv'> & { first?: string }>;

const PREPARE: Record<KnownAgent, Known> = {
  'claude-agent-acp': claude,
  'codex-acp': codex,
  gemini,
  opencode,
};

export async function prepareAcpAgent(job: Job): Promise<AcpAgent> {
  const command = job.agent?.command;
  if (command === undefined) {
    throw new BosunError(
      'system',
      'cannot start acp: no command is given; name the agent in `command`, such as [gemini, --acp]',
    );
  }
  const known = knownAgent(command);
  const { first, ...found } = known ? await PREPARE[known](job) : { env: {}, first: undefined };
  const argv = typeof command === 'string' ? ['/bin/sh', '-c', command] : command;
  return {
    ...found,
    name: path.basename(wordsOf(command)[0] ?? 'acp'),
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

async function claude(job: Job): ReturnType<Known> {
  const { model } = chooseModel(job, ['anthropic']);
  return {
    env: {
      CLAUDE_CONFIG_DIR: await makeHome(job, 'claude'),
      ...CLAUDE_VARIABLES,
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
}

async function gemini(job: Job): ReturnType<Known> {
  const { model } = chooseModel(job, ['gemini']);
  const copy = job.session?.fork ? randomUUID() : undefined;
  const home = await makeHome(job, 'gemini');
  const settings = {
    security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: true } },
    general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
    privacy: { usageStatisticsEnabled: false },
    telemetry: { enabled: false },
    // Variables of the repository's .env would be set, such as where models are.
    advanced: { ignoreLocalEnv: true },
    context: { fileName: ['AGENTS.md', 'GEMINI.md'] },
  };
  await writeAnew(await makeHome({ memory: home }, '.gemini'), 'settings.json', JSON.stringify(settings));
  return {
    env: {
      GEMINI_CLI_HOME: home,
      GEMINI_CLI_NO_RELAUNCH: 'true',
      // Where it does not trust the workspace it reads no GEMINI.md and uses no tool servers, not even ours. Where it does
      // it obeys what is in `.gemini`, which the fence covers.
      GEMINI_CLI_TRUST_WORKSPACE: String(job.isFenced),
      ...(model !== undefined && { GEMINI_MODEL: model }),
    },
    authMethod: 'gemini-api-key',
    ...(copy !== undefined && { copy }),
    ...(job.session && { first: keepConversation(home, job.cwd, job.session.id, copy) }),
  };
}

/**
 * Its file is named for the minute in which it was begun: who goes on within that minute writes an empty one over it,
 * and whoever comes next takes away all of that conversation, since one of its files is empty. It belongs to the
 * directory that it was begun in, unless that is said to have moved. Done inside the fence, since the agent could have
 * put links there.
 */
function keepConversation(home: string, cwd: string, session: string, copy: string | undefined): string {
  const kept = `session-0-${shortened(session)}.jsonl`;
  return `(cd ${quoted(path.join(home, '.gemini/tmp'))} || exit
for file in */chats/session-*-${shortened(session)}.jsonl; do
  chats=\${file%/*} slug=\${file%%/*}
  [ -e "$chats/${kept}" ] || mv "$file" "$chats/${kept}" || continue
  [ "$file" = "$chats/${kept}" ] || rm -f "$file"
  ${copy === undefined ? ':' : `sed s/${plain(session)}/${copy}/g "$chats/${kept}" > "$chats/session-0-${shortened(copy)}.jsonl"`}
  for place in "$slug" "../history/$slug"; do printf %s ${quoted(cwd)} > "$place/.project_root"; done
done) 2>/dev/null`;
}

function plain(id: string): string {
  return id.replaceAll(/[^\w-]/g, '');
}

function shortened(id: string): string {
  return plain(id).slice(0, 8);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

async function opencode(job: Job): ReturnType<Known> {
  // The prompt says who the agent is, and servers come with the conversation.
  const { env } = await opencodeSurroundings({
    ...job,
    agent: { ...job.agent!, prompt: undefined },
    mcp: {},
  });
  // A conversation that was begun elsewhere fails it.
  const isHere = await wasHere(job);
  return { env, ...(job.session && !isHere && { beginsAnew: true }) };
}

async function codex(job: Job): ReturnType<Known> {
  const alone = { ...job, agent: { ...job.agent!, prompt: undefined }, mcp: {} };
  const env = await codexSurroundings(alone, chooseModel(job, ['openai']), true);
  // Its own sandbox is off, since ours stands around it. It trusts every repository, so that the fence covers `.codex`.
  return {
    env: { ...env, INITIAL_AGENT_MODE: 'agent-full-access', MODEL_PROVIDER: 'bosun', NO_BROWSER: '1' },
  };
}
