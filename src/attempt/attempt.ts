/** What an attempt is given: the parts of the machine, and its place in the run. Types only. */
import type { RunOutput } from '../runtime/output/output.ts';
import type { EventOf, Fact } from '../contract/event.ts';
import type { CrewTools, ToolName } from '../crew/tools.ts';
import type { WantedPatch } from '../contract/access.ts';
import type { Produced } from '../contract/produced.ts';
import type { PublishedFiles } from '../contract/publication.ts';
import type { Agent, Json, RuntimeName, Task, Workflow } from '../contract/workflow.ts';
import type { AgentError, Dialect, Tokens } from '../contract/model.ts';
import type { Question, Said } from '../contract/question.ts';
import type { Caller } from '../gateway/caller.ts';
import type { FindService } from '../egress/services-door.ts';
import type { CassettePlace } from '../gateway/cassette/place.ts';
import type { EndpointAt } from '../gateway/attempt-endpoint.ts';
import type { Home } from '../store/home.ts';
import type { Steer, StopSignal } from '../runtime/runtime.ts';
import type { EngineGit } from '../system/git/engine-git.ts';
import type { Launcher, Relay } from '../system/process/process.ts';
import type { Check } from '../schedule/workflow/prompt.ts';
import type { Workspaces } from '../workspace/workspace.ts';

/** The parts of the machine that an attempt is made of. */
export interface Stages {
  home: Home;
  git: EngineGit;
  launcher: Launcher;
  /** Whether the launcher holds fences. */
  isFenced: boolean;
  workspaces: Workspaces;
  models: ModelsStage;
}

/** The way to models; nothing of it is there before the first agent needs it. */
export interface ModelsStage {
  open(caller: ModelCaller, at: EndpointAt): Promise<ModelEndpoint>;
  /** Dollars for so many tokens; null where nobody knows. */
  price(model: string, tokens: Tokens): number | null;
}

export interface ModelCaller extends Caller {
  /** What the agent is: a login of one program serves no other. */
  runtime: RuntimeName;
  /** Where it works: a cassette holds names in place of these paths. */
  place: CassettePlace;
  /** A request failed for good. */
  failed(error: AgentError): void;
}

export interface ModelEndpoint extends AsyncDisposable {
  /** Undefined for a unix socket. */
  baseUrl: string | undefined;
  /** Those that can answer, with what each speaks. */
  providers: Record<string, Dialect>;
}

/** How an attempt is told to end, by whoever may. */
export interface Stop {
  graceful: AbortController;
  now: AbortController;
}

/** Makes a commit of the publisher's files as they are now, its `n`th; undefined for a task that works on none. */
export type TakeFiles = (n: number) => Promise<PublishedFiles | undefined>;

/** Opens the way from a socket to a port of the agent's sandbox; rejects where that cannot be had. */
export type OpenRelay = (port: number, socketPath: string) => Promise<Relay>;

/** What an attempt has of the services of its run. */
export interface ServicesOfRun {
  /** Whether there are some that it may reach, or some may come. */
  areThere(): boolean;
  find: FindService;
  /** Its own are gone when this resolves. */
  ended(): Promise<void>;
}

/** The tools that reach the run; the others concern the attempt alone. The files it publishes only the attempt knows. */
export interface AttemptCrew extends Omit<
  CrewTools,
  'publish' | 'outputs' | 'take' | 'report_progress' | 'done' | 'serve'
> {
  publish(input: Parameters<CrewTools['publish']>[0], files: TakeFiles): ReturnType<CrewTools['publish']>;
  serve(input: Parameters<CrewTools['serve']>[0], open: OpenRelay): ReturnType<CrewTools['serve']>;
  /** The diff of a request that waits for an answer of this task. */
  wanted(id: string): WantedPatch;
  /** What the attempt may read of others, or what is called so; it makes files of it. */
  produced(name?: string): Produced[];
}

export interface Attempt {
  run: string;
  start: EventOf<'attempt.started'>;
  task: Task;
  workflow: Workflow;
  agent: Agent | undefined;
  /** What hooks have its agent told on top of its prompt. */
  added?: string | undefined;
  /** What its work must pass, in this order. */
  checks: readonly Check[];
  /** Of what it may change, the globs that people wrote. */
  globsOfPeople: readonly string[];
  /** The workspace that `start.continues` speaks of. */
  continues: { workspace: string; base: string } | undefined;
  /** The head that has everything merged so far: the base where needs cannot be merged by themselves. */
  shadow: string;
  /** What the whole run may still print. */
  printed: RunOutput;
  /** Files a resolved conflict must no longer have markers in. */
  conflictFiles: string[];
  /** It is a turn of a handoff, and may send the work back. */
  mayReject: boolean;
  stop: StopSignal;
  /** What the task's agents were granted beyond their scopes, up to now. */
  readonly granted: readonly string[];
  /** The task's files when they were last published: later commits descend from that. */
  readonly published: string | undefined;
  /** What does the work behind the tools that the attempt can ask us with; none where nobody is to ask. */
  crew: AttemptCrew | undefined;
  /** None where it can have no way to them. */
  services: ServicesOfRun | undefined;
  /** What the attempt is told with the answer of a tool that it calls: messages wait. */
  notice?(tool: ToolName): string | undefined;
  /** Resolves when a request to a model may go. */
  admit: Caller['admit'];
  /** Asks a person; what comes of it comes in any case. */
  ask(question: Question): Promise<Said>;
  /** What people and other agents say to the running agent; the return value ends that. */
  onSteer(listener: Steer): () => void;
  /** The output that the agent gave before its end, in this attempt or the one it goes on from. */
  readonly given: Json | undefined;
  /** Resolves once it is in the journal that the agent gave this output. */
  give(output: Json): Promise<void>;
  emit(fact: Fact): void;
  /** Takes what its end need not wait for, on a disk that is busy: that of the run does. */
  afterwards?(work: Promise<void>): void;
  nowMs(): number;
}
