/** Which paths of a repository the next run of bosun would obey, and which globs name them. Pure. */
import { comparedName } from './dot-git.ts';
import { parseGlob } from './glob-syntax.ts';
import { literalStarts } from './globs.ts';

/** The workflow that a run takes if none is named. */
export const WORKFLOW_FILES = ['bosun.yaml', 'bosun.yml', 'bosun.json'] as const;
export const AGENT_FOLDERS = ['.bosun/agents', '.claude/agents'] as const;

const FIRST_NAMES: ReadonlySet<string> = new Set(['.bosun', ...WORKFLOW_FILES]);
/** Most of it belongs to Claude Code alone; `.claude` itself could be made a link to elsewhere. */
const CLAUDE = '.claude';
const CLAUDE_AGENTS = 'agents';

export function isSettings(path: Buffer): boolean {
  // most names begin with another letter, which settles it
  const first = path[0]! | 0x20; // in lower case
  if (path[0]! < 0x80 && first !== 0x2e && first !== 0x62) return false;
  return isSettingsNames(path.toString().split(/[/\\]/, 2).map(comparedName));
}

/** A glob that only happens to match them does not name them. */
export function namesSettings(glob: string): boolean {
  return literalStarts(parseGlob(glob)).some(isSettingsNames);
}

function isSettingsNames([first, second]: readonly string[]): boolean {
  if (first === CLAUDE) return second === undefined || second === CLAUDE_AGENTS;
  return first !== undefined && FIRST_NAMES.has(first);
}
