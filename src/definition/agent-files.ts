/** Agents that are files: markdown with front matter. Ours are checked as in a workflow; of Claude Code's, what fits is taken. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { AGENT_FOLDERS } from '../base/settings-path.ts';
import { Agent } from '../contract/workflow.ts';
import { formatPath, type Located, type Problem } from './source/problem.ts';
import { readTextWithin } from './source/read-text.ts';
import { schemaProblems } from './source/schema-problems.ts';
import { readSource } from './source/source.ts';
import { usersAgent, type UsersDefaults } from './users-defaults.ts';

export interface AgentFile {
  agent: Agent;
  /** What is wrong with the file; it matters only where the agent is used. */
  problems: Located[];
}

const FILES_MAX = 1000;
const FILE_BYTES_MAX = 256 * 1024;

/** All agents of a repository by name; those of `.bosun` win. `seen` may throw where there is too much to read. */
export function readAgentFiles(
  repository: string,
  users: UsersDefaults,
  seen: (text: string) => void,
): Map<string, AgentFile> {
  const found = new Map<string, AgentFile>();
  for (const folder of AGENT_FOLDERS) {
    for (const name of markdownFiles(join(repository, folder))) {
      const file = `${folder}/${name}`;
      const read = readAgentFile(repository, file, folder === '.claude/agents', users, seen);
      if (!found.has(read.name)) found.set(read.name, read);
    }
  }
  return found;
}

function markdownFiles(directory: string): string[] {
  try {
    const names = readdirSync(directory).filter((name) => name.endsWith('.md'));
    return names.sort().slice(0, FILES_MAX);
  } catch {
    return []; // no such folder: no agents
  }
}

function readAgentFile(
  repository: string,
  file: string,
  isClaude: boolean,
  users: UsersDefaults,
  seen: (text: string) => void,
): AgentFile & { name: string } {
  const fileName = file.slice(file.lastIndexOf('/') + 1, -'.md'.length);
  const placeholder = { name: fileName, agent: Agent.parse({}) };
  const read = readTextWithin(repository, join(repository, file), FILE_BYTES_MAX);
  if ('problem' in read) {
    return {
      ...placeholder,
      problems: [{ file, path: '', message: `cannot read ${file}: ${read.problem}` }],
    };
  }
  seen(read.text);
  const { matter, body } = splitFrontMatter(read.text);
  if (matter === undefined) {
    const message =
      'the file does not start with front matter; put its fields between two lines of "---" at the top';
    return { ...placeholder, problems: [{ file, line: 1, column: 1, path: '', message }] };
  }
  const source = readSource(matter, file);
  if (source.problems.length > 0) return { ...placeholder, problems: source.problems };
  const { name = fileName, ...fields } = (source.data ?? {}) as Record<string, unknown>;
  const own = usersAgent(isClaude ? claudeFields(fields) : fields, users);
  const data = { ...own, ...(body && { prompt: body }) };
  const parsed = Agent.safeParse(data);
  const problems: Problem[] = parsed.success ? [] : schemaProblems(parsed.error.issues, data, Agent);
  return {
    name: typeof name === 'string' ? name : fileName,
    agent: parsed.success ? parsed.data : placeholder.agent,
    problems: problems.map((problem) => ({
      ...source.locate(problem),
      message: problem.message.replace('in the workflow', `in ${file}`),
      path: formatPath(problem.path),
    })),
  };
}

/** The front matter keeps its line numbers: the fence above it becomes an empty line. */
function splitFrontMatter(text: string): { matter: string | undefined; body: string } {
  const match = /^---[ \t]*(\r?\n[\s\S]*?\r?\n|\r?\n)---[ \t]*(?:\r?\n|$)/.exec(text);
  if (!match) return { matter: undefined, body: text };
  return { matter: match[1]!, body: text.slice(match[0].length).trim() };
}

/** `tools` and what else Claude Code knows are its own; `inherit` means that no model is named. */
function claudeFields(fields: Record<string, unknown>): Record<string, unknown> {
  const { description, model } = fields;
  return {
    runtime: 'claude-code',
    ...(typeof description === 'string' && { description }),
    ...(typeof model === 'string' && model !== 'inherit' && { model }),
  };
}
