/** Says what is wrong with a .gitmodules file, by the rules of git fsck: whoever checks what they fetch refuses such. */
import { cutText } from '../base/cut-text.ts';
import type { EngineGit } from '../system/git/engine-git.ts';

/** An address that curl would read in another way than git does, or a relative one that becomes such. */
const ODD_URL = /\n|%0a|^(?:https?|ftps?):(?!\/\/[^/])|^(?:\.{1,2}[/\\])+[:/]/i;

/** git lists each setting with the name of its submodule, however long that is. */
const LISTED_BYTES_MAX = 8 * 1024 ** 2;
const SHOWN_CHARS_MAX = 80;

/**
 * Undefined where git takes it, or has taken as much in the base. What cannot be read as settings, git does not obey
 * either.
 */
export async function submoduleProblem(
  git: EngineGit,
  text: string,
  base: string,
): Promise<string | undefined> {
  const settings = await settingsIn(git, text);
  if (settings === undefined)
    return `its settings are more than ${LISTED_BYTES_MAX / 1024 ** 2} MB when git lists them`;
  const problems = problemsIn(settings);
  if (problems.size === 0) return undefined;
  const had = problemsIn(base === '' ? [] : ((await settingsIn(git, base)) ?? []));
  for (const [setting, why] of problems) if (!had.has(setting)) return `git refuses it: ${why}`;
  return undefined;
}

/** Each as git says it: its name, and after a line end its value. Undefined where they are too long together. */
async function settingsIn(git: EngineGit, text: string): Promise<string[] | undefined> {
  const { stdout, isCut } = await git.run(['config', '--file', '-', '--list', '-z'], {
    input: text,
    codes: [0, 1, 128],
    stdoutBytesMax: LISTED_BYTES_MAX,
  });
  return isCut ? undefined : stdout.toString().split('\0');
}

/** By the setting that is wrong. */
function problemsIn(settings: readonly string[]): Map<string, string> {
  const problems = new Map<string, string>();
  for (const setting of settings) {
    // Only what follows the first line end is the value: it may hold anything, a dot as well as more lines.
    const [title = '', ...lines] = setting.split('\n');
    const [, name, key] = /^submodule\.(.*)\.([^.]+)$/.exec(title) ?? [];
    const why = name === undefined ? undefined : problemOf(name, key!, lines.join('\n'));
    if (why !== undefined) problems.set(setting, why);
  }
  return problems;
}

function problemOf(name: string, key: string, value: string): string | undefined {
  if (name === '' || name.split(/[/\\]/).includes('..'))
    return `a submodule may not be called "${shown(name)}"`;
  const said = shown(`${key} = ${value}`);
  if ((key === 'url' || key === 'path') && value.startsWith('-'))
    return `"${said}" would be taken for an option`;
  if (key === 'url' && ODD_URL.test(value)) return `"${said}" is not a safe address`;
  if (key === 'update' && value.startsWith('!')) return `"${said}" would run a command`;
  return undefined;
}

function shown(text: string): string {
  return cutText(text, SHOWN_CHARS_MAX);
}
