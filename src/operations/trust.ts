/**
 * Trust: what a workflow asks for beyond its repository has to be agreed to, once for each repository and thing. Who
 * asks for nothing of the kind is never asked. It fails closed, before anything is started.
 */
import { cutText } from '../base/cut-text.ts';
import { isSettings } from '../base/settings-path.ts';
import path from 'node:path';
import { shellWord } from '../base/shell-word.ts';
import { BosunError } from '../contract/errors.ts';
import type { Reading } from '../contract/operations.ts';
import type { Workflow } from '../contract/workflow.ts';
import { isFenced, type SandboxKind } from '../contract/isolation.ts';
import { HOOK_REACH, reachOf, reachOfHook } from '../definition/reach.ts';
import { spellControls } from '../report/text/plain.ts';
import { addTrust, readTrust, removeTrust, trustedAt } from '../store/trust-file.ts';
import { standsAlone } from '../system/files/stands-alone.ts';
import { trustedPlace } from '../system/files/trusted-place.ts';
import { codeFingerprint } from './code-fingerprint.ts';

/** More than a person would read. */
const ASKED_MAX = 200;
const SHOWN_MAX = 10;
const SHOWN_CHARS_MAX = 300;
/** As messages and journals call what a program handed in, with no file of the repository behind it. */
export const INLINE = 'the workflow';
const CODE_REACH = 'code of bosun itself, with no fence,';
export const NO_FENCES = 'run commands with no fences, which this machine cannot make';

export interface TrustOptions {
  /** The caller's own word for this time; nothing is remembered. Scripts may set BOSUN_TRUST=1. */
  trust?: boolean;
}

/** Where a person stands, and what asks. */
interface Asking extends TrustOptions {
  cwd: string;
  /** The workflow, as messages call it. */
  source: string;
}

/** Throws where the workflow asks for what nobody agreed to. `unfenced` is a person's own word too. */
export function checkTrust(
  options: Asking & { workflow: Workflow; top: string; kind: SandboxKind; unfenced?: boolean },
): void {
  const { workflow, top, kind, unfenced = false } = options;
  const noFences = isFenced({ kind }) || unfenced ? [] : [NO_FENCES];
  needTrust(options, [...noFences, ...reachOf(workflow, top)], workflow);
}

/** A module is code that runs in this process, so that it has to be trusted before it is loaded. */
export function checkCode(options: Asking & { file: string; top: string | undefined }): void {
  const { file, top = path.dirname(options.file) } = options;
  const name = options.top === undefined ? file : path.relative(top, file).replace(/^\.\.\/.*/, file);
  needTrust(options, [`run ${name} as ${CODE_REACH} as it is now (${codeFingerprint(file, top)})`]);
}

/** What was refused for want of trust, for doors that can ask a person. */
export function untrusted(error: unknown): { source: string; asked: string[] } | undefined {
  if (!(error instanceof BosunError) || error.code !== 'not-trusted') return undefined;
  return error.data as { source: string; asked: string[] };
}

/** Remembers what was agreed to. */
export function trust(options: Reading<'trust'> & { whileAlone?: true }): { directory: string } {
  const place = trustedPlace(options.cwd);
  if (place === undefined)
    throw new BosunError(
      'no-repository',
      `${options.cwd} is not in a git repository, and trust is for repositories; use --trust instead`,
    );
  const { directory, problem } = place;
  if (problem !== undefined)
    throw new BosunError(
      'no-repository',
      `${options.cwd} cannot be trusted: ${problem}; use --trust for this time only`,
    );
  const { asked = [], everything = false, whileAlone = false } = options;
  addTrust(directory, { asked: [...asked], everything, whileAlone });
  return { directory };
}

export interface TrustedRepository {
  directory: string;
  everything: boolean;
  /** Everything, until something of others can come into it: `bosun init` gave that. */
  whileAlone?: true;
  asked: string[];
}

export function listTrusted(): TrustedRepository[] {
  return [...readTrust()].map(([directory, { asked, everything = false, whileAlone }]) => ({
    directory,
    everything,
    ...(whileAlone && { whileAlone }),
    asked,
  }));
}

/** `repository` is a directory, also one that is gone; the one that a person stands in if not given. */
export function distrust(options: Reading<'distrust'>): { directory: string } {
  const at = path.resolve(options.cwd, options.repository ?? '.');
  const directory = trustedPlace(at)?.directory;
  const names = [directory, at, path.join(at, '.git')].filter((name) => name !== undefined);
  const removed = names.find((name) => removeTrust(name));
  if (removed !== undefined) return { directory: removed };
  throw new BosunError('not-found', `${at} is not trusted; see what is with: bosun trust --list`);
}

/** Which file asks, where it was a file; a module has no workflow yet. */
interface Asker {
  source: string;
  workflow?: Workflow | undefined;
}

/** Of what is asked for, that which nobody agreed to yet; `exactly`: in these words, whatever else is trusted. */
export function notTrusted(
  cwd: string,
  asked: string[],
  { exactly = false, from }: { exactly?: boolean; from?: Asker } = {},
): string[] {
  const place = trustedPlace(cwd);
  const known = place === undefined || place.problem !== undefined ? undefined : trustedAt(place.directory);
  const isAll = known?.everything || (known?.whileAlone && standsAlone(place!.directory));
  const isNew = (each: string): boolean => !known?.asked.includes(each);
  if (!isAll || exactly) return asked.filter(isNew);
  // A repository that is trusted with everything holds what agents wrote, too: what they can write has to be seen
  // before it runs with no fence.
  const own = new Set(from?.workflow ? hooksOfPeople(from.source, from.workflow) : []);
  return asked.filter((each) => runsOutside(each) && !own.has(each) && isNew(each));
}

function runsOutside(asked: string): boolean {
  return asked.startsWith(HOOK_REACH) || asked.includes(CODE_REACH);
}

/** Of files that no agent can change, unless a person's scope names them. */
function hooksOfPeople(file: string, { hooks = [], nested = {} }: Workflow): string[] {
  const own = isSettings(Buffer.from(path.basename(file))) ? hooks.map(reachOfHook) : [];
  return [...own, ...Object.entries(nested).flatMap(([uses, inner]) => hooksOfPeople(uses, inner))];
}

/** What `bosun init` said of a repository that was its user's alone holds no longer. */
function wasAlone(cwd: string): boolean {
  const place = trustedPlace(cwd);
  const known = place && trustedAt(place.directory);
  return known?.whileAlone === true && !known.everything && !standsAlone(place!.directory);
}

/** The caller's own word, for this time. */
export function isTrusted({ trust }: TrustOptions): boolean {
  return trust ?? process.env.BOSUN_TRUST === '1';
}

function needTrust({ cwd, source, trust }: Asking, asked: string[], workflow?: Workflow): void {
  if (asked.length === 0 || isTrusted(trust === undefined ? {} : { trust })) return;
  // Whoever trusts a repository with everything means its files, and not what a program hands in.
  const fresh = notTrusted(cwd, asked, { exactly: source === INLINE, from: { source, workflow } });
  if (fresh.length === 0) return;
  if (fresh.length > ASKED_MAX)
    throw new BosunError(
      'usage',
      `${source} asks for ${fresh.length} things beyond this repository, more than anybody would read; if you trust whoever wrote it: bosun trust --all`,
    );
  const shown = showAsked(fresh.slice(0, SHOWN_MAX)).map((line) => `\n- ${line}`);
  const rest = fresh.length > SHOWN_MAX ? `\n- and ${fresh.length - SHOWN_MAX} more` : '';
  const since = wasAlone(cwd)
    ? '\nbosun init trusted this repository while it had no remote, which it has by now.'
    : '';
  throw new BosunError(
    'not-trusted',
    `nothing was started: ${spellControls(source)} asks for more than this repository:${shown.join('')}${rest}${since}\nIf you trust it${remedy(source)}`,
    { data: { source, asked: fresh } },
  );
}

/** For people: a stranger wrote it. */
export function showAsked(asked: readonly string[]): string[] {
  return asked.map((each) => {
    const text = spellControls(each);
    // What is trusted of a command is what it says: a workflow cannot have one that is too long to read.
    if (each.startsWith(HOOK_REACH)) return text;
    return cutText(text, SHOWN_CHARS_MAX);
  });
}

function remedy(source: string): string {
  if (source === 'library') return ', pass trust: true';
  if (source === 'exec') return ': bosun trust --all, or start it yourself with bosun exec';
  if (source === INLINE) return ': save it as a file, and type: bosun trust <file>';
  return `: bosun trust ${shellWord(spellControls(source))}, or add --trust for this time only`;
}
