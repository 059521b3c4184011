/**
 * The runtime for Claude Code: the Agent SDK runs in the engine, the `claude` program behind the fence, and they talk
 * over its stdin and stdout. No settings of the repository's count; its CLAUDE.md is read.
 */
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import type { McpServer } from '../../contract/model.ts';
import { BosunError } from '../../contract/errors.ts';
import { askingSome } from '../agent/ask-person.ts';
import { failed } from '../agent/command.ts';
import { makeHome } from '../agent/home.ts';
import { AgentStory } from '../agent/story.ts';
import { chooseModel } from '../agent/choose-model.ts';
import { permissions } from './ask.ts';
import { ClaudeReader } from './events.ts';
import { ClaudeInput } from './input.ts';
import { ClaudeProcess } from './process.ts';
import { CLAUDE_CODE } from './descriptor.ts';
import { loadSdk, type SdkMessage, type SdkOptions } from './sdk.ts';
import { findAgent, needAgent, type FoundAgent } from '../agent/find-agent.ts';
import { firstWords } from '../agent/first-words.ts';
import type { Job, Result, Runtime } from '../runtime.ts';
import { runTalk } from '../agent/talk.ts';

const EDIT_TOOLS = ['Write', 'Edit', 'NotebookEdit'];

export const claudeCode: Runtime = {
  async run(job: Job): Promise<Result> {
    try {
      return await runClaude(job);
    } catch (error) {
      if (!(error instanceof BosunError)) throw error;
      const { message } = error;
      return { outcome: failed('start', message), output: null, error: { kind: 'crashed', message } };
    }
  },
};

async function runClaude(job: Job): Promise<Result> {
  const sdk = await loadSdk();
  const home = await makeHome(job, 'claude');
  const session = job.session && hasSession(home, job.session.id) ? job.session : undefined;
  const [program, input] = [new ClaudeProcess(), new ClaudeInput()];
  const story = new AgentStory('claude-code', job);
  const reader = new ClaudeReader(story, session !== undefined);
  input.say(firstWords(job, session));
  const messages = sdk.query({ prompt: input, options: optionsOf({ ...job, session }, home, program) });
  const command = commandOf(job, program);
  const stopListening = job.onSteer((text, about) => input.say(text, about?.given));
  try {
    const ended = await runTalk(job, {
      ...command,
      async converse(peer) {
        program.attach(peer);
        await converse(messages, input, reader, story);
      },
    });
    if (ended.outcome.kind !== 'done' || !reader.isOutOfTurns) {
      const result = story.end(ended);
      const { structured } = reader;
      return result.outcome.kind === 'done' && structured !== undefined
        ? { ...result, output: structured, isStructured: true }
        : result;
    }
    const message = `claude-code was not done after ${job.agent?.turns} turns; allow more with \`turns\``;
    return story.end({ ...ended, outcome: failed('limit', message) });
  } finally {
    stopListening();
    input.close();
    program.gone();
    // Lets go of what the SDK holds; that it complains of a program which is gone is nothing new.
    await messages.return().catch(() => {});
  }
}

/** Reads until a turn has ended after which nothing waits to be said. */
async function converse(
  messages: AsyncGenerator<SdkMessage, void>,
  input: ClaudeInput,
  reader: ClaudeReader,
  story: AgentStory,
): Promise<void> {
  for (;;) {
    const { value: message, done } = await messages.next();
    if (done === true || message === undefined) throw new Error('it ended without saying how its work went');
    reader.read(message);
    if (message.type !== 'result') continue;
    if (!input.answered(message)) break;
    story.begin();
  }
  input.close();
}

/** The user's `claude`, or else the one that comes with the SDK, with what the SDK wants to tell it. */
function commandOf(job: Job, { wanted }: ClaudeProcess): { argv: string[]; env: Record<string, string> } {
  if (!wanted)
    throw new BosunError('system', 'cannot start claude-code: its SDK starts no program; install it again');
  const found = programOf(job);
  const env = Object.entries(wanted.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return {
    argv: found ? [...found.argv, ...wanted.args] : [wanted.command, ...wanted.args],
    env: Object.fromEntries(env),
  };
}

/** Undefined where only the SDK's own is there. */
function programOf({ agent }: Job): FoundAgent | undefined {
  return agent?.command === undefined ? findAgent(CLAUDE_CODE) : needAgent(CLAUDE_CODE, agent);
}

function optionsOf(job: Job, home: string, program: ClaudeProcess): SdkOptions {
  const { agent, session } = job;
  const { model, provider } = chooseModel(job, CLAUDE_CODE.dialects);
  return {
    cwd: job.cwd,
    env: environmentOf(job, home, provider),
    ...(model !== undefined && { model }),
    ...(agent?.turns !== undefined && { maxTurns: agent.turns }),
    systemPrompt: {
      type: 'preset',
      preset: 'claude_code',
      ...(agent?.prompt !== undefined && { append: agent.prompt }),
    },
    // The fence is what holds it; a question for each step would stop the work. Not by the options of these names,
    // for which the SDK warns that `canUseTool` is of no use: questions of the agent's own come there all the same.
    extraArgs: { 'permission-mode': 'bypassPermissions', 'allow-dangerously-skip-permissions': null },
    ...(job.isReadOnly && { disallowedTools: EDIT_TOOLS }),
    // Settings of the repository would bring hooks, servers and permissions of a stranger.
    settingSources: [],
    strictMcpConfig: true,
    // With this, and a variable, CLAUDE.md is read all the same.
    additionalDirectories: [job.cwd],
    mcpServers: Object.fromEntries(Object.entries(job.mcp).map(([name, server]) => [name, serverOf(server)])),
    ...(session && { resume: session.id, forkSession: session.fork }),
    ...(job.schema && { outputFormat: { type: 'json_schema', schema: job.schema } }),
    canUseTool: permissions(askingSome(job, (why) => program.breakOff(why))),
    spawnClaudeCodeProcess: program.spawn,
    ...(programOf(job) && { pathToClaudeCodeExecutable: 'claude' }),
  };
}

function environmentOf({ env, models }: Job, home: string, provider: string): Record<string, string> {
  return {
    ...env,
    ...CLAUDE_CODE.variables,
    ...(models && { ANTHROPIC_BASE_URL: `${models.baseUrl}/${provider}`, ANTHROPIC_API_KEY: models.key }),
    CLAUDE_CONFIG_DIR: home,
  };
}

function serverOf(server: McpServer): object {
  return 'url' in server ? { type: 'http', ...server } : { type: 'stdio', ...server };
}

/** A conversation that was lost is begun anew rather than failed. */
function hasSession(home: string, id: string): boolean {
  const projects = path.join(home, 'projects');
  if (!/^[\w-]+$/.test(id) || !existsSync(projects)) return false;
  return readdirSync(projects).some((project) => existsSync(path.join(projects, project, `${id}.jsonl`)));
}
