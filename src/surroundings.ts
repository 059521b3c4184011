/**
 * What stands around one attempt: its fence, its environment, its own files, its way to the network. Made before the
 * first command of the attempt, gone after the last. The fence is drawn here, and held by the sandbox.
 */
import { mkdir, mkdtemp } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { parseSizeBytes } from './base/units.ts';
import type { Agent, Scope } from './contract/workflow.ts';
import { openEgress } from './egress/proxy.ts';
import type { Attempt, Stages } from './engine.ts';
import { toolchains } from './sandbox/machine.ts';
import { writableParts } from './sandbox/policy.ts';
import { effectiveLimits, effectiveScope } from './schedule/scope-of.ts';
import type { Fence, FenceLimits } from './system/fence.ts';
import type { Launch, Running } from './system/process.ts';
import { removeTree } from './system/remove-tree.ts';
import { give } from './system/sandbox-user.ts';
import type { Workspace } from './workspace/workspace.ts';

/** More than any build needs, and few enough for the machine to stay usable while a fork bomb meets it. */
const PROCESSES_DEFAULT = 4096;

type Start = Pick<Launch, 'argv' | 'env' | 'input'>;
type Around = Pick<Launch, 'env' | 'fence' | 'reads'>;
type Parts = Pick<Fence, 'write' | 'keep' | 'mask'>;

const ALL: Parts = { write: [''], keep: [], mask: [] };
const NOTHING: Parts = { write: [], keep: [], mask: [] };

export class Surroundings implements AsyncDisposable {
  /** The directory with the attempt's prompt and output. */
  readonly files: string;
  /** What every command of the attempt gets. */
  readonly env: Record<string, string>;
  readonly #stages: Stages;
  readonly #attempt: Attempt;
  readonly #scope: Scope;
  readonly #undo = new AsyncDisposableStack();
  #sockets: string | undefined;

  static async make(stages: Stages, attempt: Attempt): Promise<Surroundings> {
    const made = new Surroundings(stages, attempt);
    await mkdir(made.files, { recursive: true });
    give(stages.launcher.uid, made.files);
    made.#undo.defer(() => removeTree(made.files));
    const { network = [] } = made.#scope;
    if (network.length > 0 && stages.isFenced) made.#sockets = await made.#openNetwork(network);
    return made;
  }

  private constructor(stages: Stages, attempt: Attempt) {
    this.#stages = stages;
    this.#attempt = attempt;
    this.#scope = effectiveScope(attempt.task, attempt.agent);
    this.files = stages.home.attempt(attempt.run, attempt.start.task, attempt.start.attempt);
    this.env = environment(stages, attempt, this.files);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#undo.disposeAsync();
  }

  /** For the setup command of a base, which may write all of it. */
  async setup(hosts: readonly string[]): Promise<Around> {
    const isOpen = hosts.length > 0 && this.#stages.isFenced;
    return { env: this.env, ...this.#fence(ALL, isOpen ? await this.#openNetwork(hosts) : undefined) };
  }

  async launch(workspace: Workspace | undefined, start: Start): Promise<Running> {
    const { launcher } = this.#stages;
    if (workspace === undefined) return launcher.launch(this.#inNoWorkspace(start));
    const { write } = this.#scope;
    const mask = await maskOf(workspace);
    let parts = { ...ALL, mask };
    if (write !== undefined) {
      parts = {
        ...writableParts([...write, ...(this.#scope.shared ?? [])], await workspace.tree()),
        mask,
      };
      await workspace.makeDirectories(parts.write);
    }
    return launcher.launch(await workspace.inside({ ...start, ...this.#fence(parts, this.#sockets) }));
  }

  /** On a throw-away layer, all of which may be written. */
  async launchCheck(workspace: Workspace | undefined, start: Start): Promise<Running> {
    const { launcher } = this.#stages;
    if (workspace === undefined) return launcher.launch(this.#inNoWorkspace(start));
    const parts = { ...ALL, mask: await maskOf(workspace) };
    return launcher.launch(await workspace.insideScratch({ ...start, ...this.#fence(parts, this.#sockets) }));
  }

  #inNoWorkspace(start: Start): Launch {
    const cwd = this.#stages.home.empty;
    return { ...start, ...this.#fence(NOTHING, this.#sockets), cwd, emptyCwd: true };
  }

  #fence(parts: Parts, sockets: string | undefined): Omit<Around, 'env'> {
    const { home, isFenced } = this.#stages;
    const reads = [
      ...toolchains(this.env.PATH ?? ''),
      ...(this.#scope.read ?? []).map((file) => readPath(file, home.top)),
    ];
    if (!isFenced) return { reads };
    const fence: Fence = {
      ...parts,
      grantable: [],
      read: reads,
      own: [this.files],
      ...(sockets !== undefined && { sockets }),
      egress: sockets !== undefined,
      limits: limitsOf(effectiveLimits(this.#attempt.task, this.#attempt.agent)),
    };
    return { fence };
  }

  /** Gives the directory with the socket behind which the proxy to these hosts stands. */
  async #openNetwork(allow: readonly string[]): Promise<string> {
    const { task, attempt } = this.#attempt.start;
    const { uid } = this.#stages.launcher;
    const sockets = await mkdtemp(`${this.#stages.home.sockets}${path.sep}`);
    this.#undo.defer(() => removeTree(sockets));
    give(uid, sockets);
    const proxy = await openEgress({
      socketPath: path.join(sockets, 'egress.sock'),
      allow,
      ...(uid !== undefined && { uid }),
      onDenied: (denied) => this.#attempt.emit({ type: 'attempt.denied', task, attempt, ...denied }),
    });
    this.#undo.use(proxy);
    return sockets;
  }
}

/** What is there of it: an agent may have removed some. */
async function maskOf(workspace: Workspace): Promise<string[]> {
  const { mask } = workspace.base;
  if (mask.length === 0) return [];
  const tree = await workspace.tree();
  return mask.flatMap((file) => {
    const kind = tree.kindOf(file);
    return kind === undefined ? [] : [kind === 'directory' ? `${file}/` : file];
  });
}

/** Nothing of the engine's own environment but what any program needs. */
function environment(
  { isFenced, launcher }: Stages,
  { agent, task, start, run }: Attempt,
  files: string,
): Record<string, string> {
  const env: Record<string, string> = { TERM: 'dumb', CI: '1' };
  for (const name of ['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'LC_ALL', 'TZ', 'SHELL']) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  // Whoever does not run as the engine's user cannot use that user's home.
  if (!isFenced && launcher.uid !== undefined) env.HOME = files;
  if (isFenced) Object.assign(env, { USER: 'agent', LOGNAME: 'agent', SHELL: '/bin/sh' });
  const own = { BOSUN_RUN: run, BOSUN_TASK: start.task, BOSUN_ATTEMPT: String(start.attempt) };
  return { ...env, ...effectiveScope(task, agent).env, ...start.env, ...own };
}

function limitsOf(limits: NonNullable<Agent['limits']>): FenceLimits {
  const { memory, processes = PROCESSES_DEFAULT, cpu, disk, files } = limits;
  return {
    processes,
    ...(memory !== undefined && { memoryBytes: parseSizeBytes(memory) }),
    ...(cpu !== undefined && { cpu }),
    ...(disk !== undefined && { diskBytes: parseSizeBytes(disk) }),
    ...(files !== undefined && { openFiles: files }),
  };
}

function readPath(file: string, top: string): string {
  return file.startsWith('~/') ? path.join(homedir(), file.slice(2)) : path.resolve(top, file);
}
