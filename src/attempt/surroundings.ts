/**
 * What stands around one attempt: its fence, its environment, its own files, its ways to the network and to us. Made
 * before the first command of the attempt, gone after the last. The fence is drawn here, and held by the sandbox.
 */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { isWithin } from '../base/is-within.ts';
import type { Attempt, AttemptCrew, Stages } from './attempt.ts';
import { DoneOutput } from './done-output.ts';
import { HeldTime } from './held-time.ts';
import { ProgressTeller } from './progress.ts';
import { OutputFiles } from './output-files.ts';
import { openPort } from './port-relay.ts';
import { Publisher } from './publisher.ts';
import { withoutServices } from './without-services.ts';
import { asksModels } from '../contract/runtimes.ts';
import type { Scope } from '../contract/workflow.ts';
import { openCrew } from '../crew/crew.ts';
import type { CrewTools } from '../crew/tools.ts';
import {
  OUR_TOOLS,
  type Admission,
  type AgentError,
  type JsonSchema,
  type McpServer,
  type RequestEstimate,
} from '../contract/model.ts';
import type { EndpointAt } from '../gateway/attempt-endpoint.ts';
import { noticeWaits } from '../gateway/waiting.ts';
import { PLACEHOLDER_KEY } from '../gateway/keys/keys.ts';
import type { RuntimeDescriptor } from '../runtime/descriptor.ts';
import type { GatewayAccess } from '../runtime/runtime.ts';
import { RUNTIMES_BY_NAME } from '../runtime/runtimes.ts';
import { GATEWAY } from '../sandbox/linux/bridge.ts';
import type { Denied } from '../egress/gate.ts';
import { mayReach } from '../egress/may-reach.ts';
import { openEgress } from '../egress/proxy.ts';
import { cpuUsedMs } from '../sandbox/limits/cpu-used.ts';
import { directoriesOf } from '../sandbox/policy.ts';
import { PACKAGE } from '../base/package-directory.ts';
import { environmentOf, machineEnvironment } from './environment.ts';
import { stateWithin } from '../sandbox/state-within.ts';
import { toolchains } from '../sandbox/machine/toolchains.ts';
import { planSchema } from '../schedule/workflow/plan-format.ts';
import { effectiveLimits, effectiveScope } from '../schedule/workflow/scope-of.ts';
import type { Fence } from '../system/process/fence.ts';
import { fenceLimits } from './fence-limits.ts';
import {
  ALL_PARTS,
  maskOf,
  NO_PARTS,
  partsOf,
  readableAt,
  type AskedParts,
  type WorkspaceParts,
} from './fence-parts.ts';
import type { Launch, Prepared, Running } from '../system/process/process.ts';
import { tryRemoveTree } from '../system/files/remove-tree.ts';
import { give } from '../system/process/sandbox-user.ts';
import type { Workspace } from '../workspace/workspace.ts';

const GATEWAY_URL = `http://127.0.0.1:${GATEWAY.port}`;

type Start = Pick<Launch, 'argv' | 'env' | 'input' | 'talks'>;
type Place = Omit<Launch, 'argv' | 'env' | 'input' | 'talks'>;
type Around = Pick<Launch, 'env' | 'fence' | 'reads'>;

interface Sockets {
  directory: string;
  hasEgress: boolean;
  hasCrew: boolean;
  hasModels: boolean;
}

interface Ways {
  allow: readonly string[];
  withEgress: boolean;
  withCrew: boolean;
  withModels: boolean;
}

/** What `bosun agent` needs inside; not the whole package, which may be the repository itself. */
const CREW_COMMAND = [
  ...['bin', path.basename(path.dirname(import.meta.dirname)), 'package.json', 'node_modules'].map((name) =>
    path.join(PACKAGE, name),
  ),
  process.execPath,
].filter((file, _, all) => existsSync(file) && !all.some((other) => file.startsWith(`${other}/`))); // a mount each

export class Surroundings implements AsyncDisposable {
  /** The directory with the attempt's prompt and output. */
  readonly files: string;
  /** The directory that all attempts of the task share; only agents that have something to remember need it. */
  readonly memory: string;
  /** Where the agent reaches models, as it sees it. */
  models: GatewayAccess | undefined;
  /** How long the agent had to wait: no time of its own. */
  readonly held = new HeldTime(() => this.#running && cpuUsedMs(this.#running.pid));
  /** Why the last request to a model failed, as the gateway saw it. */
  modelError: AgentError | undefined;
  readonly #stages: Stages;
  readonly #attempt: Attempt;
  readonly #scope: Scope;
  readonly #undo = new AsyncDisposableStack();
  /** Requests to models that offered tools. */
  #turns = 0;
  #sockets: Sockets | undefined;
  /** As the agent sees them, by what they are; the workspace's is known later. */
  #paths: Record<string, string> | undefined;
  /** A sandbox that waits for the agent's command. */
  #prepared: Prepared | undefined;
  /** What the agent itself runs in; it may be granted more of its workspace. */
  #running: Running | undefined;
  #workspace: Workspace | undefined;
  readonly #publisher: Publisher;

  static async make(stages: Stages, attempt: Attempt): Promise<Surroundings> {
    const made = new Surroundings(stages, attempt);
    await mkdir(made.files, { recursive: true });
    give(stages.launcher.uid, made.files);
    made.#undo.defer(() => {
      const removed = rmdir(made.files).catch(() => tryRemoveTree(made.files)); // it is empty, most of the time
      return attempt.afterwards ? attempt.afterwards(removed) : removed;
    });
    const { network: allow = [] } = made.#scope;
    const withCrew = attempt.crew !== undefined;
    const withModels = asksModels(attemptRuntime(attempt).name);
    const withEgress = allow.length > 0 || (attempt.services?.areThere() ?? false);
    try {
      if (withModels) {
        await mkdir(made.memory, { recursive: true });
        give(stages.launcher.uid, made.memory);
      }
      if (stages.isFenced && (withEgress || withCrew || withModels))
        made.#sockets = await made.#openSockets({ allow, withEgress, withCrew, withModels });
      else if (withModels) await made.#openModels('tcp');
    } catch (error) {
      await made[Symbol.asyncDispose]();
      throw error;
    }
    return made;
  }

  private constructor(stages: Stages, attempt: Attempt) {
    this.#stages = stages;
    this.#attempt = attempt;
    this.#publisher = new Publisher(stages, attempt);
    this.#scope = effectiveScope(attempt.task, attempt.agent);
    this.files = stages.home.attempt(attempt.run, attempt.start.task, attempt.start.attempt);
    this.memory = stages.home.memory(attempt.run, attempt.start.task);
  }

  get isFenced(): boolean {
    return this.#stages.isFenced;
  }

  /** What every command of the attempt gets. */
  get env(): Record<string, string> {
    return environmentOf(this.#attempt, this.#stages.isFenced);
  }

  /** Our own tools for the agent's model; none where it has no way to us. */
  get tools(): Record<string, McpServer> {
    if (!this.#sockets?.hasCrew) return {};
    return { [OUR_TOOLS]: { command: path.join(PACKAGE, 'bin', 'bosun'), args: ['agent', 'mcp'] } };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#undo.disposeAsync();
  }

  /** The path of the workspace, as the agent sees it. */
  seenAt(workspace: Workspace): string {
    return (this.isFenced ? this.#stages.launcher.workspaceAt : undefined) ?? workspace.path;
  }

  /**
   * For the setup command of a base, which may write all of it. Other tasks share what it makes, and it runs what
   * earlier ones wrote: so it gets nothing that is this task's own, neither variables nor what its agent may read.
   */
  async setup(hosts: readonly string[]): Promise<Around> {
    const { isFenced } = this.#stages;
    const sockets =
      hosts.length > 0 && isFenced
        ? await this.#openSockets({ allow: hosts, withEgress: true, withCrew: false, withModels: false })
        : undefined;
    return { env: machineEnvironment(isFenced), ...this.#fence(ALL_PARTS, sockets, { reads: [], own: [] }) };
  }

  /** Makes the sandbox of the agent's command ahead of it. */
  async prepare(workspace: Workspace | undefined): Promise<void> {
    const { prepare } = this.#stages.launcher;
    if (prepare === undefined) return;
    const prepared = prepare(await this.#place(workspace));
    this.#prepared = prepared;
    this.#undo.defer(async () => {
      if (this.#prepared === prepared) await prepared.discard();
    });
  }

  async launch(workspace: Workspace | undefined, start: Start): Promise<Running> {
    const prepared = this.#prepared;
    this.#prepared = undefined;
    if (this.#paths && workspace) this.#paths.workspace = this.seenAt(workspace);
    const running =
      prepared?.start(start) ?? this.#stages.launcher.launch({ ...start, ...(await this.#place(workspace)) });
    this.#running = running;
    this.#workspace = workspace;
    return running;
  }

  async #place(workspace: Workspace | undefined): Promise<Place> {
    if (workspace === undefined)
      return { ...this.#fence(NO_PARTS, this.#sockets), cwd: this.#stages.home.empty, emptyCwd: true };
    const parts = await partsOf(workspace, this.#asked());
    await workspace.makeDirectories(parts.write);
    return workspace.inside(this.#fence(parts, this.#sockets));
  }

  /** On a throw-away layer, all of which may be written. */
  async launchCheck(workspace: Workspace | undefined, start: Start): Promise<Running> {
    const { launcher } = this.#stages;
    if (workspace === undefined) return launcher.launch({ ...start, ...(await this.#place(undefined)) });
    const parts = { ...ALL_PARTS, mask: await maskOf(workspace) };
    return launcher.launch({
      ...start,
      ...(await workspace.insideScratch(this.#fence(parts, this.#sockets))),
    });
  }

  #asked(): AskedParts {
    const { granted, agent } = this.#attempt;
    const runtime = attemptRuntime(this.#attempt);
    return { scope: this.#scope, granted, runtime, agent, isFenced: this.#stages.isFenced };
  }

  /** What the task itself may see besides the workspace. */
  #ownReads(): string[] {
    return [
      ...(this.#scope.read ?? []).map((file) => readableAt(file, this.#scope, this.#stages.home.top)),
      ...(this.#sockets?.hasCrew ? CREW_COMMAND : []),
      ...attemptRuntime(this.#attempt).reads(this.#attempt.agent),
    ];
  }

  #fence(
    parts: WorkspaceParts,
    sockets: Sockets | undefined,
    {
      reads: ownReads = this.#ownReads(),
      own = [this.files, ...(sockets?.hasModels ? [this.memory] : [])],
    }: { reads?: string[]; own?: string[] } = {},
  ): Omit<Around, 'env'> {
    const { isFenced } = this.#stages;
    // Of the engine's own PATH: what a workflow or an agent calls one must show nothing.
    const reads = [...new Set([...toolchains(process.env.PATH ?? '').paths, ...ownReads])];
    if (!isFenced) return { reads };
    const { home } = this.#stages;
    const hidden = [home.directory, ...placesOutside(home)].flatMap((place) => stateWithin(ownReads, place));
    const { workspaceAt } = this.#stages.launcher;
    const fence: Fence = {
      ...(workspaceAt !== undefined && { at: workspaceAt }),
      ...parts,
      read: reads,
      ...(hidden.length > 0 && { hidden }),
      own,
      ...(sockets && { sockets: sockets.directory }),
      egress: sockets?.hasEgress ?? false,
      gateway: sockets?.hasModels ?? false,
      limits: fenceLimits(effectiveLimits(this.#attempt.task, this.#attempt.agent)),
    };
    return { fence };
  }

  /** A directory with the sockets behind which the proxy to these hosts, models, and we ourselves, can be reached. */
  async #openSockets({ allow, withEgress, withCrew, withModels }: Ways): Promise<Sockets> {
    const { uid } = this.#stages.launcher;
    const directory = await mkdtemp(`${this.#stages.home.sockets}${path.sep}`);
    this.#undo.defer(() => tryRemoveTree(directory));
    give(uid, directory);
    const owner = uid === undefined ? {} : { uid };
    const { crew, services } = this.#attempt;
    if (withEgress) {
      const socketPath = path.join(directory, 'egress.sock');
      const onDenied = (denied: Denied): void => this.#denied(denied);
      const findService = withCrew ? services?.find : undefined; // a set-up is the work of all that share its base
      this.#undo.use(
        await openEgress({ socketPath, allow, ...owner, onDenied, ...(findService && { findService }) }),
      );
    }
    if (withCrew && crew) {
      const { task, attempt } = this.#attempt.start;
      const emit = this.#attempt.emit;
      const progress = this.#undo.use(
        new ProgressTeller((told) => emit({ type: 'attempt.progress', task, attempt, ...told })),
      );
      const done = new DoneOutput(outputSchema(this.#attempt), (output) => this.#attempt.give(output));
      const seen = (): string | undefined => this.#workspace && this.seenAt(this.#workspace);
      const outputs = new OutputFiles(this.#stages, this.#attempt, directory, seen);
      const tools: CrewTools = {
        ...crew,
        request_access: (input) => this.#requestAccess(crew, input),
        publish: (input) => this.#publisher.publish(crew, input, this.#running, this.#workspace),
        ...(!withEgress && { wait_for: withoutServices(crew.wait_for) }),
        serve: (input) => crew.serve(input, (port, socketPath) => openPort(this.#running, port, socketPath)),
        ...outputs.toolsFor(crew),
        answer_access: (input) =>
          input.answer === 'take'
            ? outputs.takeRequested(input.id, crew.wanted(input.id))
            : crew.answer_access(input),
        ask: (input, left) => this.held.ask(crew.ask(input, left)),
        report_progress: progress.report,
        done: done.give,
      };
      const notice = this.#attempt.notice;
      const socketPath = path.join(directory, 'agent.sock');
      this.#undo.use(await openCrew({ socketPath, ...owner, tools, ...(notice && { notice }) }));
    }
    if (withModels) await this.#openModels({ socketPath: path.join(directory, 'gateway.sock'), ...owner });
    return { directory, hasEgress: withEgress, hasCrew: withCrew, hasModels: withModels };
  }

  async #openModels(at: EndpointAt): Promise<void> {
    const { start, run } = this.#attempt;
    const names = { task: start.task, attempt: start.attempt };
    const { files, memory } = this;
    this.#paths = { files, memory, repository: this.#stages.home.top };
    const door = await this.#stages.models.open(
      {
        ...names,
        runtime: attemptRuntime(this.#attempt).name,
        place: { run, paths: this.#paths },
        run: this.#attempt.run,
        admit: (estimate, signal) => this.#admit(estimate, signal),
        onWait: noticeWaits((notice) => this.#attempt.emit({ ...notice, ...names })),
        mayReach: mayReach(this.#scope.network ?? []),
        onDenied: (denied) => this.#denied(denied),
        failed: (error) => (this.modelError = error),
      },
      at,
    );
    this.#undo.use(door);
    this.models = { baseUrl: door.baseUrl ?? GATEWAY_URL, key: PLACEHOLDER_KEY, providers: door.providers };
  }

  #denied(denied: Denied): void {
    const { task, attempt } = this.#attempt.start;
    this.#attempt.emit({ type: 'attempt.denied', task, attempt, ...denied });
  }

  /** What was answered after a failure makes it a thing of the past; what was not answered is no turn. */
  async #admit(estimate: RequestEstimate, signal: AbortSignal): Promise<Admission> {
    const count = estimate.hasTools ? 1 : 0;
    const turnsMax = turnsOf(this.#attempt);
    if (this.#turns + count > turnsMax)
      return { isAdmitted: false, kind: 'refused', message: describeTurns(turnsMax) };
    this.#turns += count;
    const requestEnded = this.held.request();
    const admission = await this.held
      .holdBack(this.#attempt.admit(estimate, signal))
      .catch((error: unknown) => {
        requestEnded();
        throw error;
      });
    if (!admission.isAdmitted) {
      requestEnded();
      this.#turns -= count;
      return admission;
    }
    return {
      ...admission,
      settle: (use) => {
        requestEnded();
        if (use) this.modelError = undefined;
        else this.#turns -= count;
        admission.settle(use);
      },
    };
  }

  /** The agent is done: nothing more is published or served, and what is under way is in the journal. */
  async workEnded(): Promise<void> {
    this.#running = undefined;
    await Promise.all([this.#publisher.settled(), this.#attempt.services?.ended()]);
  }

  /** A yes is in the journal before it takes effect in what runs. */
  async #requestAccess(
    crew: AttemptCrew,
    input: Parameters<CrewTools['request_access']>[0],
  ): ReturnType<CrewTools['request_access']> {
    const answer = await crew.request_access(input);
    const running = this.#running;
    const workspace = this.#workspace;
    if (!answer.granted || !running || !workspace) return answer;
    if (running.grant === undefined)
      return {
        ...answer,
        why: `${answer.why}; it takes effect at the next attempt, since this machine cannot open a running sandbox`,
      };
    await running.grant(directoriesOf(answer.globs, await workspace.tree()));
    return answer;
  }
}

/** The one that does this attempt: the agent's own, or another where that one failed. */
export function attemptRuntime({ start, agent }: Attempt): RuntimeDescriptor {
  return RUNTIMES_BY_NAME[start.fallback?.runtime ?? agent?.runtime ?? 'cli'];
}

/** What its output has to satisfy. */
export function outputSchema(attempt: Attempt): JsonSchema | undefined {
  const { output, expand } = attempt.task;
  return output ?? (expand ? planSchema(attemptRuntime(attempt).needsStrictSchemas ?? false) : undefined);
}

/** What the gateway holds. */
function turnsOf(attempt: Attempt): number {
  return attemptRuntime(attempt).countsTurns ? Infinity : (attempt.agent?.turns ?? Infinity);
}

function describeTurns(turns: number): string {
  return `it used its ${turns} ${turns === 1 ? 'turn' : 'turns'} and was not done; allow more with "turns" of the agent`;
}

/** Where workspaces lie elsewhere, those of other repositories lie beside them. */
function placesOutside({ directory, sandbox }: Stages['home']): string[] {
  return isWithin(directory, sandbox) ? [] : [path.dirname(sandbox)];
}
