/** Which paths of a repository the next run of bosun would obey, and which globs name them. Pure. */
import { comparedName } from './dot-git.ts';
import { parseGlob } from './glob-syntax.ts';
import { literalStarts } from './globs.ts';

/** The workflow that a run takes if none is named: of the directory it is started in, or of one above it. */
export const WORKFLOW_FILES = ['bosun.yaml', 'bosun.yml', 'bosun.json'] as const;
export const AGENT_FOLDERS = ['.bosun/agents', '.claude/agents'] as const;

const WORKFLOWS: ReadonlySet<string> = new Set(WORKFLOW_FILES);
/** Most of it belongs to Claude Code alone; `.claude` itself could be made a link to elsewhere. */
const CLAUDE = '.claude';
const CLAUDE_AGENTS = 'agents';

export function isSettings(path: Buffer): boolean {
  // most names begin with another letter, which settles it
  const last = Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1;
  if (!mayBegin(path[0]!) && !mayBegin(path[last]!)) return false;
  return isSettingsNames(path.toString().split(/[/\\]/).map(comparedName));
}

/** A glob that only happens to match them does not name them. */
export function namesSettings(glob: string): boolean {
  return literalStarts(parseGlob(glob)).some(isSettingsNames);
}

function mayBegin(byte: number): boolean {
  const letter = byte | 0x20; // in lower case
  return byte >= 0x80 || letter === 0x2e || letter === 0x62;
}

function isSettingsNames(names: readonly string[]): boolean {
  const [first, second] = names;
  if (first === CLAUDE) return second === undefined || second === CLAUDE_AGENTS;
  return first !== undefined && (first === '.bosun' || WORKFLOWS.has(first) || WORKFLOWS.has(names.at(-1)!));
}
