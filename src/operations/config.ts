/** What is configured, and changing it: one key at a time, in the user's file or in the repository's. */
import { randomUUID } from 'node:crypto';
import {
  chownSync,
  lstatSync,
  mkdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { machineError } from '../base/machine-failure.ts';
import { suggest } from '../base/suggest.ts';
import { CONFIG_KEYS, joinKey, ownName, splitKey } from '../contract/config-keys.ts';
import { BosunError } from '../contract/errors.ts';
import type { Reading } from '../contract/operations.ts';
import type { ConfigSet, ConfigUnset, Configuration, ConfiguredValue } from '../contract/config-outputs.ts';
import { RUNTIME_DEFAULT } from '../contract/runtimes.ts';
import type { Json } from '../contract/workflow.ts';
import { configText, userConfigFile } from '../definition/config.ts';
import { sayings } from '../definition/config-origins.ts';
import { setKey, unsetKey, type EditedFile } from '../definition/edit-config.ts';
import { agentsByDefault } from '../run/shared-machine.ts';
import { Home, repositoryConfig } from '../store/home.ts';
import { awaitLock } from '../store/lock.ts';
import { userStateDirectory } from '../store/user-state.ts';
import { findGit } from '../system/files/state-directory.ts';

const LOCK_MS_MAX = 10_000;
const PRIVATE = 0o700;

/** Every key with its value and where that came from, or one of them. */
export async function configurationOf({ cwd, key }: Reading<'config'>): Promise<Configuration> {
  const git = findGit(cwd);
  const repository = git && repositoryConfig(git.top);
  const said = sayings(repository);
  const rows = said.map(({ key: name, said: [first, ...over] }): ConfiguredValue => {
    return { key: name, ...first!, over, about: aboutOf(name) };
  });
  const defaults: Record<string, Json> = {
    isolation: 'best-effort',
    agents: agentsByDefault(),
    runtime: RUNTIME_DEFAULT,
    'budget.enforce': 'ask',
    'budget.unknown-price': 'refuse',
    ...(git && { workspaces: new Home(git).sandbox }),
  };
  const unsaid = CONFIG_KEYS.filter(
    ({ name, variable }) => variable && !said.some((each) => each.key === name),
  );
  for (const { name, about } of unsaid)
    rows.push({ key: name, value: defaults[name] ?? null, from: 'default', over: [], about });
  const order = (name: string): number =>
    CONFIG_KEYS.findIndex((each) => name === each.name || name.startsWith(`${each.name}.`));
  const all = rows.toSorted((a, b) => order(a.key) - order(b.key));
  const files = { user: userConfigFile(), ...(repository !== undefined && { repository }) };
  return { values: key === undefined ? all : only(all, ownName(key).name), files };
}

function only(values: ConfiguredValue[], name: string): ConfiguredValue[] {
  const wanted = joinKey(splitKey(name));
  const found = values.filter(({ key }) => key === wanted || key.startsWith(`${wanted}.`));
  if (found.length === 0)
    throw new BosunError(
      'not-found',
      `${requireKey(wanted)} is not set, and has no default; see: bosun config`,
    );
  return found;
}

/** Throws where there is no key of that name, whatever is configured. */
function requireKey(name: string): string {
  const isKnown = CONFIG_KEYS.some(
    (key) => name === key.name || name.startsWith(`${key.name}.`) || key.name.startsWith(`${name}.`),
  );
  if (isKnown) return name;
  const names = CONFIG_KEYS.map((key) => key.name);
  const near = suggest(name, names);
  const hint = near === undefined ? `; the keys are ${names.join(', ')}` : `; did you mean ${near}?`;
  throw new BosunError('not-found', `there is no key ${name}${hint}`);
}

function aboutOf(name: string): string {
  return CONFIG_KEYS.find((each) => each.name === name)?.about ?? '';
}

export async function setConfig(asked: Reading<'setConfig'>): Promise<ConfigSet> {
  const { name, value: said = '' } = ownName(asked.key, asked.value);
  const key = splitKey(name);
  return change(asked, (edited) => {
    const { text, value } = setKey(edited, key, said);
    return { text, answer: { key: joinKey(key), value: value as Json, file: edited.file } };
  });
}

export async function unsetConfig(asked: Reading<'unsetConfig'>): Promise<ConfigUnset> {
  const key = splitKey(ownName(asked.key).name);
  requireKey(joinKey(key));
  return change(asked, (edited) => {
    const text = unsetKey(edited, key);
    const answer = { key: joinKey(key), file: edited.file, wasSet: text !== undefined };
    return { answer, ...(text !== undefined && { text }) };
  });
}

/** Of two who change at once one waits for the other, so that nothing that either says is lost. */
async function change<T>(
  { cwd, repository = false, signal }: { cwd: string; repository?: boolean; signal?: AbortSignal },
  edit: (edited: EditedFile) => { text?: string; answer: T },
): Promise<T> {
  const file = repository ? repositorysFile(cwd) : userConfigFile();
  const state = userStateDirectory();
  try {
    mkdirSync(state, { recursive: true, mode: PRIVATE });
    using lock = await awaitLock(path.join(state, 'config.lock'), LOCK_MS_MAX, signal);
    signal?.throwIfAborted();
    if (!lock) throw new BosunError('busy', `another bosun is changing ${file}; try again`);
    const { text, answer } = edit({ file, text: configText(file), isUsers: !repository });
    if (text !== undefined) replace(file, text, repository);
    return answer;
  } catch (cause) {
    if (cause instanceof BosunError || signal?.aborted) throw cause;
    const what = `cannot write ${file}`;
    throw (
      machineError(cause, what) ?? new BosunError('system', `${what}: ${(cause as Error).message}`, { cause })
    );
  }
}

function repositorysFile(cwd: string): string {
  const git = findGit(cwd);
  if (!git) throw new BosunError('no-repository', `${cwd} is not in a git repository; go to one`);
  return repositoryConfig(git.top);
}

/**
 * Never half a file. Dotfiles may be links to where their user keeps them; in a repository, which may come from a
 * stranger, nothing is written through one.
 */
function replace(file: string, text: string, isRepositorys: boolean): void {
  const directory = path.dirname(file);
  mkdirSync(directory, { recursive: true, ...(!isRepositorys && { mode: PRIVATE }) });
  const links = [directory, file].filter((each) =>
    lstatSync(each, { throwIfNoEntry: false })?.isSymbolicLink(),
  );
  if (isRepositorys && links.length > 0)
    throw new BosunError(
      'usage',
      `${links[0]} is a symbolic link, so nothing was written; put the file itself there`,
    );
  const before = statSync(file, { throwIfNoEntry: false });
  const real = before ? realpathSync(file) : file;
  const fresh = path.join(path.dirname(real), `.${path.basename(real)}.${randomUUID()}`);
  try {
    const mode = before ? before.mode & 0o777 : isRepositorys ? 0o666 : 0o600;
    writeFileSync(fresh, text, { flag: 'wx', mode, flush: true });
    if (before && process.geteuid?.() === 0) chownSync(fresh, before.uid, before.gid);
    renameSync(fresh, real);
  } finally {
    rmSync(fresh, { force: true });
  }
}
