/** A run's work as a pull request: pushed, then opened through the host's own program, or left to a person as a link. */
import { BosunError } from '../contract/errors.ts';
import type { Reading } from '../contract/operations.ts';
import type { PullRequest } from '../contract/outputs.ts';
import { userConfigFile } from '../definition/config.ts';
import type { Address } from '../remote/address.ts';
import { forgeOf, newRequestPage, pageOf } from '../remote/forge.ts';
import { githubHost } from '../remote/github.ts';
import { gitlabHost } from '../remote/gitlab.ts';
import { requireBranchName } from '../remote/push.ts';
import type { RequestHost } from '../remote/request-host.ts';
import { requestText } from '../report/pull-request.ts';
import { gitInRepository } from '../system/git/git.ts';
import type { Repository } from '../system/git/repository.ts';
import { pushWork } from './push.ts';
import { remoteConfig, type ReachOptions } from './reach-remote.ts';
import { reportOf } from './report.ts';

export type PullRequestOptions = Reading<'pr'> & ReachOptions;

export async function makePullRequest(options: PullRequestOptions): Promise<PullRequest> {
  const { signal, base: named } = options;
  if (named !== undefined) await requireBranchName(named);
  const { at, git, view, branch, commit } = await pushWork(options);
  const { address } = at;
  const made = { run: view.id, branch, commit };
  const forge = forgeOf(address, remoteConfig(address)?.forge);
  const tracked = named ?? (await trackedBase(git.repository, at.name, branch));
  const asLink = (note: string): PullRequest => ({
    ...made,
    kind: 'link',
    url: forge === undefined ? pageOf(address) : newRequestPage(forge, address, branch, tracked),
    note,
  });
  const { host, lacks } = requestHostOf(address, signal);
  if (!host) return asLink(lacks);
  try {
    const open = await host.find(branch);
    if (open) return { ...made, kind: 'updated', url: open.url };
    const base = tracked ?? (await host.baseDefault());
    if (base === undefined)
      return asLink('the branch that it should go into is not known: name it with --base');
    const { cwd } = options;
    const report = await reportOf({ cwd, run: view.id, written: true, ...(signal && { signal }) });
    const text = requestText(report, options.title);
    const { url } = await host.open({ ...text, branch, base, draft: options.draft ?? false });
    return { ...made, kind: 'opened', url };
  } catch (error) {
    // the work is there, and a person can still make the rest of it
    if (!(error instanceof BosunError) || error.code !== 'network') throw error;
    return asLink(error.message);
  }
}

/** Whose programs may be asked without the user's word: they send their logins to whichever host they are told. */
const KNOWN_HOSTS = /^(github\.com|[\w-]+\.ghe\.com|gitlab\.com)$/;

/** Who can be asked about pull requests there; else why nobody can. */
export function requestHostOf(
  address: Address,
  signal?: AbortSignal,
): { host: RequestHost; lacks?: never } | { host?: never; lacks: string } {
  const { hostname, transport } = address;
  const host = transport === 'ssh' ? hostname : address.host;
  const configured = remoteConfig(address)?.forge;
  const forge = forgeOf(address, configured);
  if (forge === undefined || (configured === undefined && !KNOWN_HOSTS.test(hostname)))
    return {
      lacks: `bosun does not know what runs on ${host}; say so in ${userConfigFile()}: remotes: { '${host}': { forge: github } }, or gitlab`,
    };
  if (forge !== 'github' && forge !== 'gitlab')
    return { lacks: 'bosun opens pull requests itself on GitHub and GitLab only' };
  const program = forge === 'github' ? 'gh' : 'glab';
  const found = forge === 'github' ? githubHost(address, signal) : gitlabHost(address, signal);
  return found ? { host: found } : { lacks: `install ${program} and log in, and bosun opens it itself` };
}

/** The branch that the user is on, if the remote has it; else the one that its HEAD leads to. */
async function trackedBase(
  { top, branch }: Repository,
  remote: string | undefined,
  head: string,
): Promise<string | undefined> {
  if (remote === undefined) return undefined;
  const below = `refs/remotes/${remote}/`;
  if (branch !== undefined && branch !== head) {
    const found = await gitInRepository(['rev-parse', '--verify', '--quiet', `${below}${branch}`], {
      cwd: top,
      codes: [0, 1, 128],
    });
    if (found.code === 0) return branch;
  }
  const leads = await gitInRepository(['symbolic-ref', '--quiet', `${below}HEAD`], {
    cwd: top,
    codes: [0, 1, 128],
  });
  const target = leads.stdout.toString().trim();
  return leads.code === 0 && target.startsWith(below) ? target.slice(below.length) : undefined;
}
