/** Says what is wrong with a .gitmodules file, by the rules of git fsck: whoever checks what they fetch refuses such. */
import type { EngineGit } from '../system/engine-git.ts';

/** An address that curl would read in another way than git does, or a relative one that becomes such. */
const ODD_URL = /\n|%0a|^(?:https?|ftps?):(?!\/\/[^/])|^(?:\.{1,2}[/\\])+[:/]/i;

/** Undefined where git takes it. What cannot be read as settings, git does not obey either. */
export async function submoduleProblem(git: EngineGit, text: string): Promise<string | undefined> {
  const listed = await git.run(['config', '--file', '-', '--list', '-z'], {
    input: text,
    codes: [0, 1, 128],
  });
  for (const entry of listed.stdout.toString().split('\0')) {
    // Only what follows the first line end is the value: it may hold anything, a dot as well as more lines.
    const [setting = '', ...lines] = entry.split('\n');
    const [, name, key] = /^submodule\.(.*)\.([^.]+)$/.exec(setting) ?? [];
    if (name === undefined) continue;
    const why = problemOf(name, key!, lines.join('\n'));
    if (why !== undefined) return `git refuses it: ${why}`;
  }
  return undefined;
}

function problemOf(name: string, key: string, value: string): string | undefined {
  if (name === '' || name.split(/[/\\]/).includes('..')) return `a submodule may not be called "${name}"`;
  const said = `${key} = ${value}`;
  if ((key === 'url' || key === 'path') && value.startsWith('-'))
    return `"${said}" would be taken for an option`;
  if (key === 'url' && ODD_URL.test(value)) return `"${said}" is not a safe address`;
  if (key === 'update' && value.startsWith('!')) return `"${said}" would run a command`;
  return undefined;
}
