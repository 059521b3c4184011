/**
 * Writes what other tasks produced as files that the agent can read, while it works: into the directory of its sockets,
 * which it sees read-only, so that nothing of its making is in the way. Bounded in size. What the agent may not see is
 * left out, and a patch can be taken only where all of it is in the agent's scope.
 */
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, rename, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Attempt, AttemptCrew, Stages } from './attempt.ts';
import { compileGlobs } from '../base/globs.ts';
import { vetChanges, type VetScope } from '../collect/vet.ts';
import type { OwnerSaid, WantedPatch } from '../contract/access.ts';
import { BosunError } from '../contract/errors.ts';
import type { Outputs, Produced, ProducedFiles, Take } from '../contract/produced.ts';
import { API_NEED } from '../contract/workflow-words.ts';
import type { CrewTools } from '../crew/tools.ts';
import { INSIDE } from '../sandbox/linux/bwrap.ts';
import { effectiveScope, withGranted } from '../schedule/workflow/scope-of.ts';
import { giveTree } from '../system/process/sandbox-user.ts';

/** Of one patch, and of all files that one attempt is given. */
const PATCH_BYTES_MAX = 16 * 1024 * 1024;
const GIVEN_BYTES_MAX = 64 * 1024 * 1024;
/** Of one call. */
const PRODUCED_MAX = 20;
/** Where some files are hidden, so many others can be named to git. */
const PATHS_MAX = 1000;
const ARTIFACTS_MAX = 1000;
const NAMES_SHOWN_MAX = 5;

const STATUS = { added: 'A', modified: 'M', deleted: 'D' } as const;

interface Written {
  told: ProducedFiles;
  /** Undefined where there is no patch, or not the whole of it. */
  patch?: string;
  changes: { path: Buffer; status: string }[];
}

export class OutputFiles {
  readonly #stages: Pick<Stages, 'git' | 'launcher'>;
  readonly #attempt: Attempt;
  /** That of its sockets. */
  readonly #directory: string;
  readonly #workspace: () => string | undefined;
  readonly #written = new Map<string, Promise<Written>>();
  /** One at a time. */
  #last: Promise<unknown> = Promise.resolve();
  #bytes = 0;

  /** `workspace`: where the agent works, as it sees it; undefined where it has none. */
  constructor(
    stages: Pick<Stages, 'git' | 'launcher'>,
    attempt: Attempt,
    directory: string,
    workspace: () => string | undefined,
  ) {
    this.#stages = stages;
    this.#attempt = attempt;
    this.#directory = directory;
    this.#workspace = workspace;
  }

  toolsFor({ produced }: Pick<AttemptCrew, 'produced'>): Pick<CrewTools, 'outputs' | 'take'> {
    return {
      outputs: async ({ name }) => this.#outputs(produced(name)),
      take: async ({ name }) => this.#take(produced(name)[0]!),
    };
  }

  async #outputs(produced: readonly Produced[]): Promise<Outputs> {
    const told: ProducedFiles[] = [];
    for (const one of produced.slice(0, PRODUCED_MAX)) told.push((await this.#write(one)).told);
    return { produced: told, more: produced.slice(PRODUCED_MAX).map(({ name }) => name) };
  }

  async #take(produced: Produced): Promise<Take> {
    const workspace = this.#workspace();
    if (workspace === undefined)
      throw new BosunError('usage', 'you work on no files, so that there is nothing to apply it to');
    const { patch, changes, told } = await this.#write(produced);
    if (changes.length === 0)
      throw new BosunError('usage', `${produced.name} has no changes that you could take${hint(produced)}`);
    if (patch === undefined)
      throw new BosunError('usage', `${produced.name} cannot be taken: ${told.notes.join('; ')}`);
    const wrong = this.#outside(changes);
    if (wrong.length > 0)
      throw new BosunError(
        'usage',
        `${produced.name} changes files that you may not: ${someOf(wrong)}; ask for them with request_access, or make the other changes yourself from ${patch}`,
      );
    return { name: produced.name, workspace, patch, paths: changes.map((change) => change.path.toString()) };
  }

  /** The change that another agent asks this one for, as a file that its command can apply. */
  async takeRequested(id: string, { patch, files }: WantedPatch): Promise<OwnerSaid> {
    const workspace = this.#workspace();
    if (workspace === undefined)
      throw new BosunError('usage', 'you work on no files, so that there is nothing to apply it to');
    const wrong = this.#outside(
      files.map(({ path: file, change }) => ({ path: Buffer.from(file), status: STATUS[change] })),
    );
    if (wrong.length > 0)
      throw new BosunError(
        'usage',
        `${id} changes files that you may not: ${someOf(wrong)}; answer yes or no, or change what is yours and say so with send`,
      );
    const bytes = Buffer.byteLength(patch);
    if (!this.#fits(bytes))
      throw new BosunError('usage', `${id} cannot be taken: ${bytes} bytes are more than fit`);
    const made = await mkdtemp(path.join(this.#directory, 'wanted-'));
    await writeFile(path.join(made, 'change.patch'), patch, { mode: 0o644 });
    await giveTree(this.#stages.launcher.uid, made);
    const at = path.posix.join(this.#seenAt, path.basename(made), 'change.patch');
    const take = { name: id, workspace, patch: at, paths: files.map((file) => file.path) };
    return { accepted: false, why: `apply ${at}, then answer applied`, take };
  }

  /** Where the agent sees the directory of its sockets. */
  get #seenAt(): string {
    return this.#stages.launcher.workspaceAt === undefined ? this.#directory : INSIDE.sockets;
  }

  /** The same rule by which work is collected. */
  #outside(changes: Written['changes']): string[] {
    const asked = changes.map(({ path: file, status }) =>
      status === 'D'
        ? ({ kind: 'delete', path: file, wasDirectory: false } as const)
        : ({
            kind: 'file',
            path: file,
            source: file,
            mode: '100644',
            size: 0,
            isNew: status === 'A',
          } as const),
    );
    const { outside, refused } = vetChanges(asked, this.#scope, (file) => [file]);
    return [...refused, ...outside].map((one) => `${one.path.toString()} (${one.why})`);
  }

  #write(produced: Produced): Promise<Written> {
    const before = this.#written.get(produced.place);
    if (before) return before;
    const writing = this.#last.then(() => this.#make(produced));
    this.#last = writing.catch(() => this.#written.delete(produced.place));
    this.#written.set(produced.place, writing);
    return writing;
  }

  async #make(produced: Produced): Promise<Written> {
    const { git, launcher } = this.#stages;
    const isHidden = compileGlobs(this.#scope.hide ?? []);
    const all = path.join(this.#directory, 'outputs');
    const made = path.join(all, `${produced.place}.new`);
    await mkdir(made, { recursive: true });
    const files: string[] = [];
    const notes: string[] = [];
    const add = async (name: string, content: string | Buffer): Promise<void> => {
      const bytes = Buffer.byteLength(content);
      if (!this.#fits(bytes)) return void notes.push(`${name} is left out: ${bytes} bytes are more than fit`);
      await writeFile(path.join(made, name), content, { mode: 0o644 });
      files.push(name);
    };
    const { output, summary, diff } = produced;
    if (typeof output === 'string') await add('output.txt', output);
    else if (output !== undefined) await add('output.json', `${JSON.stringify(output, null, 2)}\n`);
    await add('summary.txt', `${summary}\n`);
    const changes = diff ? await git.changedPaths(diff.from, diff.to) : [];
    // A file in the place of a directory: git would give what the directory had with it.
    const above = new Set(
      changes
        .map((change) => change.path.toString())
        .filter(isHidden)
        .flatMap(directoriesOf),
    );
    const isSeen = (file: string): boolean => !isHidden(file) && !above.has(file);
    const seen = changes.filter((change) => isSeen(change.path.toString()));
    const hiddenCount = changes.length - seen.length;
    if (hiddenCount > 0)
      notes.push(`left out, since it is hidden from you: ${hiddenCount} of ${changes.length} changed files`);
    let patch: Buffer | undefined;
    if (diff && seen.length > 0) {
      await add('files.txt', seen.map((one) => `${one.status} ${one.path.toString()}\n`).join(''));
      patch =
        hiddenCount > 0 && seen.length > PATHS_MAX
          ? undefined
          : await this.#patch(diff, hiddenCount > 0 ? seen : []);
      if (patch) await add('changes.patch', patch);
      else notes.push('the patch is left out: it is too large');
    }
    if (produced.artifacts)
      files.push(...(await this.#copyArtifacts(produced.artifacts, made, isHidden, notes)));
    await giveTree(launcher.uid, made);
    await rename(made, path.join(all, produced.place));
    const at = path.posix.join(this.#seenAt, 'outputs', produced.place);
    const isWhole = patch !== undefined && files.includes('changes.patch');
    return {
      told: {
        name: produced.name,
        state: produced.state,
        changedCount: seen.length,
        files: files.map((file) => path.posix.join(at, file)),
        notes,
      },
      changes: seen,
      ...(isWhole && { patch: path.posix.join(at, 'changes.patch') }),
    };
  }

  /** As it is now: more may be granted while the agent works. */
  get #scope(): VetScope {
    const { task, agent, granted, globsOfPeople } = this.#attempt;
    return { ...withGranted(effectiveScope(task, agent), granted), named: globsOfPeople };
  }

  #fits(bytes: number): boolean {
    if (this.#bytes + bytes > GIVEN_BYTES_MAX) return false;
    this.#bytes += bytes;
    return true;
  }

  /** Of these files, or of all; undefined where it is larger than it may be. */
  async #patch(
    { from, to }: { from: string; to: string },
    only: readonly { path: Buffer }[],
  ): Promise<Buffer | undefined> {
    const pieces: Buffer[] = [];
    const tooLarge = new AbortController();
    let bytes = 0;
    const take = (piece: Buffer): void => {
      bytes += piece.length;
      if (bytes > PATCH_BYTES_MAX) tooLarge.abort();
      else pieces.push(piece);
    };
    const paths = only.map((one) => one.path.toString());
    try {
      await this.#stages.git.streamDiff(from, to, take, tooLarge.signal, paths);
    } catch (error) {
      if (!tooLarge.signal.aborted) throw error;
      return undefined;
    }
    return Buffer.concat(pieces);
  }

  /** They are the engine's own copies: files, and no links. */
  async #copyArtifacts(
    from: string,
    into: string,
    isHidden: (file: string) => boolean,
    notes: string[],
  ): Promise<string[]> {
    if (!existsSync(from)) return [];
    const found = (await readdir(from, { recursive: true })).filter((name) => !isHidden(name));
    const copied: string[] = [];
    for (const name of found.slice(0, ARTIFACTS_MAX)) {
      const facts = await stat(path.join(from, name));
      if (!facts.isFile()) continue;
      if (!this.#fits(facts.size)) {
        notes.push(`${name} is left out: ${facts.size} bytes are more than fit`);
        continue;
      }
      const to = path.posix.join('artifacts', name);
      await mkdir(path.dirname(path.join(into, to)), { recursive: true });
      await copyFile(path.join(from, name), path.join(into, to));
      copied.push(to);
    }
    return copied;
  }
}

function someOf(words: readonly string[]): string {
  const left = words.length - NAMES_SHOWN_MAX;
  return `${words.slice(0, NAMES_SHOWN_MAX).join(', ')}${left > 0 ? ` and ${left} more` : ''}`;
}

function hint({ name }: Produced): string {
  if (!name.startsWith(API_NEED)) return '';
  return `: only tasks that need ${name} may take it before its publisher is done`;
}

function directoriesOf(file: string): string[] {
  const names = file.split('/');
  return names.slice(1).map((_, n) => names.slice(0, n + 1).join('/'));
}
