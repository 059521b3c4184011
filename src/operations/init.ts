/** Writes a first workflow: one that runs as it is, with no key, or a template with the agents and tests that are here. Never overwrites one. */
import { existsSync, realpathSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { machineError } from '../base/machine-failure.ts';
import { BosunError } from '../contract/errors.ts';
import type { Reading } from '../contract/operations.ts';
import type { Initialised } from '../contract/outputs.ts';
import { WORKFLOW_FILES } from '../base/settings-path.ts';
import { gitInRepository } from '../system/git/git.ts';
import { inspectRepository } from '../system/git/repository.ts';
import { openWorkTree } from '../system/git/work-tree.ts';
import { findGit } from '../system/files/state-directory.ts';
import { trustedPlace } from '../system/files/trusted-place.ts';
import { takesCommand } from '../contract/runtimes.ts';
import type { TemplateName } from '../contract/templates.ts';
import { usersConfig } from '../definition/config.ts';
import { installedAgents, type InstalledAgent } from './beginning/installed-agents.ts';
import { findInstallCommand } from './beginning/install-command.ts';
import { findParts } from './beginning/parts.ts';
import { templateText } from './beginning/templates.ts';
import { findTestCommand } from './beginning/test-command.ts';
import { trust } from './trust.ts';

/** One with more is older than a first look can tell. */
const COMMITS_MAX = 10_000;

/** Directories of dependencies that git does not have, and that tests need. */
const DEPENDENCIES = ['node_modules', '.venv'];
/** Whose tasks have the test command as their check. */
const RUNS_TESTS = new Set<TemplateName>(['fix-tests', 'plan-build-review', 'parallel-refactor', 'triage']);

export async function initialise(options: Reading<'init'>): Promise<Initialised> {
  const there = WORKFLOW_FILES.find((name) => existsSync(path.join(options.cwd, name)));
  if (there !== undefined) {
    requireUnwritten(options, there);
    return { file: there, written: false, trusted: false };
  }
  const installed = installedAgents();
  const agent = chooseAgent(options, installed);
  const check = options.check ?? findTestCommand(options.cwd);
  const template = options.template ?? (options.agent || options.command ? firstOf(check) : 'hello');
  if (template !== 'hello' && agent === undefined)
    throw new BosunError(
      'usage',
      `the template ${template} needs an agent, and none is installed: see bosun doctor, name one with --agent, or a program that takes a prompt on stdin with --command`,
    );
  if (template === 'fix-tests' && check === undefined)
    throw new BosunError(
      'usage',
      'no test command was found here for the template fix-tests: name it with --check, such as --check "make test"',
    );
  const parts = findParts(options.cwd);
  if (template === 'parallel-refactor' && parts.length === 0)
    throw new BosunError(
      'usage',
      'there are no directories here to divide the work by, which parallel-refactor needs: take plan-build-review',
    );
  const known = DEPENDENCIES.filter((name) => existsSync(path.join(options.cwd, name)));
  const install = RUNS_TESTS.has(template) && isOfNode(check) ? findInstallCommand(options.cwd) : undefined;
  // A path to copy that is missing fails a task before its agent has cost anything.
  const copy = install === undefined ? known : ['node_modules', ...known];
  const text = templateText(template, { agent, check, parts, copy });
  const file = WORKFLOW_FILES[0];
  try {
    await writeFile(path.join(options.cwd, file), text, { flag: 'wx' });
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'EEXIST') return { file, written: false, trusted: false };
    const what = `cannot write ${path.join(options.cwd, file)}`;
    throw machineError(cause, what) ?? new BosunError('system', `${what}: ${message}`, { cause });
  }
  return {
    file,
    written: true,
    trusted: await trustAll(options.cwd),
    template,
    ...(check !== undefined && { check }),
    ...(install !== undefined && { install }),
    ...(agent && { agent: agent.runtime }),
    installed: [...new Set(installed.map(({ runtime }) => runtime))],
    ...(await startOf(options.cwd)),
    needs: template === 'triage' ? ['issue'] : /^inputs:$/m.test(text) ? ['goal'] : [],
  };
}

/** Whoever asks for a certain file and does not get it must not take another one for it. */
function requireUnwritten({ template, agent, command, check }: Reading<'init'>, there: string): void {
  if ([template, agent, command, check].every((each) => each === undefined)) return;
  throw new BosunError(
    'wrong-state',
    `${there} is there already, so nothing was written; move it away first, or edit it: docs/workflow-file.md has all fields`,
  );
}

/** As it was asked for, else the user's own, else the first that is installed. */
function chooseAgent(
  { agent, command }: Reading<'init'>,
  installed: readonly InstalledAgent[],
): InstalledAgent | undefined {
  if (command !== undefined) return { runtime: agent ?? 'cli', command };
  if (agent === undefined) {
    const { runtime } = usersConfig(undefined).users;
    return installed.find((each) => each.runtime === runtime) ?? installed[0];
  }
  const found = installed.find(({ runtime }) => runtime === agent);
  if (found || !takesCommand(agent)) return found ?? { runtime: agent };
  throw new BosunError('usage', `--agent ${agent} needs --command: what to start`);
}

function isOfNode(check: string | undefined): boolean {
  return check !== undefined && /^(npm|pnpm|yarn|bun)\b/.test(check);
}

function firstOf(check: string | undefined): TemplateName {
  return check === undefined ? 'review' : 'fix-tests';
}

/** What a run starts from is a commit. */
async function startOf(cwd: string): Promise<Pick<Initialised, 'lacks'>> {
  const top = findGit(cwd)?.top;
  if (top === undefined) return { lacks: 'repository' };
  return (await hasCommit(top)) ? {} : { lacks: 'commit' };
}

/**
 * Only at the top of a repository that seems to be the user's own: no remote that may bring anything, no settings of
 * others, no commit by somebody else. Elsewhere a run asks, should it have to; the workflow written here never does.
 */
async function trustAll(cwd: string): Promise<boolean> {
  const top = findGit(cwd)?.top;
  if (top === undefined || realpathSync(top) !== realpathSync(cwd)) return false;
  if (!trustedPlace(top)?.isGitDirectory) return false; // whose commits these are, another repository says
  if (['.bosun', '.claude'].some((name) => existsSync(path.join(top, name)))) return false;
  try {
    if ((await hasRemote(top)) || (await hasCommitsByOthers(top))) return false;
    trust({ cwd, whileAlone: true });
    return true;
  } catch (error) {
    if (error instanceof BosunError) return false;
    throw error;
  }
}

async function hasRemote(top: string): Promise<boolean> {
  const remotes = ['config', '--get-regexp', String.raw`^remote\.`];
  return (await gitInRepository(remotes, { cwd: top, codes: [0, 1] })).code === 0;
}

async function hasCommit(top: string): Promise<boolean> {
  const head = ['rev-parse', '--verify', '--quiet', 'HEAD'];
  return (await gitInRepository(head, { cwd: top, codes: [0, 1] })).code === 0;
}

async function hasCommitsByOthers(top: string): Promise<boolean> {
  if (!(await hasCommit(top))) return false;
  const repository = await inspectRepository(top);
  await using tree = await openWorkTree(repository);
  const log = await tree.run(['log', `--max-count=${COMMITS_MAX}`, '--format=%ae', repository.head]);
  const own = await ownEmail(top);
  const emails = log.stdout.toString().trim().split('\n');
  return emails.length >= COMMITS_MAX || emails.some((email) => email !== own);
}

/** As the user says it outside of the repository, whose own settings may have come with its commits. */
async function ownEmail(top: string): Promise<string | undefined> {
  const { GIT_AUTHOR_EMAIL: given } = process.env;
  if (given !== undefined) return given.trim();
  const args = ['config', '--null', '--show-scope', '--get-all', 'user.email'];
  const { stdout } = await gitInRepository(args, { cwd: top, codes: [0, 1] });
  const said = stdout.toString().split('\0');
  let own: string | undefined;
  for (let n = 0; n + 1 < said.length; n += 2)
    if (said[n] !== 'local' && said[n] !== 'worktree') own = said[n + 1]!.trim();
  return own;
}
