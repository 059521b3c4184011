/** `bosun git` */
import { BosunError } from '../../../contract/errors.ts';
import { safeJson, spellControls } from '../../../report/text/plain.ts';
import { count, shortCommit } from '../../../report/words.ts';
import { ask, inputOf } from '../ask.ts';
import { isOn, optionText, type Typed } from '../command.ts';
import { hasColor, mayPrompt, painter, writeError, writeOut } from '../output.ts';
import { untilStopped } from '../until-stopped.ts';
import { patchWriter, tellFiles } from './diff.ts';

type Action = (typed: Typed, words: string[]) => Promise<void>;

const ACTIONS: Record<string, Action> = { clone, fetch, branch, commit, push, status, diff };

export async function run(typed: Typed): Promise<number> {
  const [name = '', ...words] = typed.args;
  const wordsMax = { clone: 2, branch: 1 }[name] ?? 0;
  if (words.length > wordsMax)
    throw new BosunError('usage', `git ${name}: "${words[wordsMax]}" is too much; see bosun git --help`);
  await ACTIONS[name]!(typed, words);
  return 0;
}

async function clone(typed: Typed, [url, directory]: string[]): Promise<void> {
  if (url === undefined) throw new BosunError('usage', 'name what to clone: bosun git clone <address>');
  const input = inputOf('clone', typed, { url, ...(directory !== undefined && { directory }) });
  const cloned = await untilStopped((signal) => ask('clone', input, { signal, mayPrompt: mayPrompt() }));
  const at =
    cloned.head === undefined ? 'its default branch has no commit yet' : `at ${shortCommit(cloned.head)}`;
  tell(typed, cloned, cloned.directory, `cloned ${cloned.url}: ${at}`);
}

async function fetch(typed: Typed): Promise<void> {
  const fetched = await untilStopped((signal) =>
    ask('fetch', inputOf('fetch', typed), { signal, mayPrompt: mayPrompt() }),
  );
  const { remote, branches } = fetched;
  const lines = branches.map(({ name, commit: at }) => `${remote}/${name} ${shortCommit(at)}`);
  const said =
    branches.length === 0 ? `${remote} has nothing new` : count(branches.length, 'branch', 'branches');
  tell(typed, fetched, lines.join('\n'), said);
}

async function push(typed: Typed): Promise<void> {
  const pushed = await untilStopped((signal) =>
    ask('gitPush', inputOf('gitPush', typed), { signal, mayPrompt: mayPrompt() }),
  );
  const { remote, branch: name, kind, commit: at } = pushed;
  const said =
    kind === 'nothing' ? `${remote} has ${name} already` : `${name} of ${remote} is at ${shortCommit(at)}`;
  tell(typed, pushed, name, said);
}

async function branch(typed: Typed, [name]: string[]): Promise<void> {
  const now = await ask('branch', inputOf('branch', typed, { ...(name !== undefined && { name }) }));
  const said = now.made ? `made ${now.name} and switched to it` : '';
  tell(typed, now, now.name ?? '', said || (now.name === undefined ? 'you are on no branch' : ''));
}

async function commit(typed: Typed): Promise<void> {
  if (optionText(typed, 'message') === undefined)
    throw new BosunError('usage', 'a commit needs a message: bosun git commit -m "<message>"');
  const made = await untilStopped((signal) => ask('commit', inputOf('commit', typed), { signal }));
  const said = made ? `committed ${count(made.files, 'file')}` : 'nothing to commit';
  tell(typed, made, made?.commit ?? '', said);
}

async function status(typed: Typed): Promise<void> {
  const now = await untilStopped((signal) => ask('gitStatus', {}, { signal }));
  const { branch: name, head, upstream, files } = now;
  const { ahead = 0, behind = 0 } = upstream ?? {};
  const than = ahead + behind === 0 ? 'same as' : `${ahead} ahead and ${behind} behind`;
  const lines = files.map(({ path, state }) => `${state} ${spellControls(path)}`).join('\n');
  tell(
    typed,
    now,
    lines,
    `${name ?? 'no branch'} at ${shortCommit(head)}${upstream ? `, ${than} ${upstream.name}` : ''}`,
  );
}

async function diff(typed: Typed): Promise<void> {
  const paint = painter(hasColor(process.stdout));
  const isListed = isOn(typed, 'stat') || isOn(typed, 'json');
  const changes = await untilStopped((signal) =>
    ask('gitDiff', { stat: isListed }, { signal, write: patchWriter(paint) }),
  );
  if (isOn(typed, 'json')) tell(typed, changes, '', '');
  else if (changes.files.length === 0) writeError('nothing was changed\n');
  else if (isListed) tellFiles(changes, paint);
}

/** Data on stdout, words for people on stderr. */
function tell(typed: Typed, value: unknown, data: string, said: string): void {
  if (isOn(typed, 'json')) {
    writeOut(`${safeJson(value)}\n`);
    return;
  }
  if (data !== '') writeOut(`${data}\n`);
  if (said !== '') writeError(`${said}\n`);
}
