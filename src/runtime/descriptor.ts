/**
 * What bosun knows of a runtime before it starts one. One value for each, in the runtime's own folder, listed in
 * runtimes.ts; cheap to import, since it loads the runtime itself only when that is needed. Types only.
 */
import type { LoginPlace, ProgramLogin } from '../contract/login.ts';
import type { Dialect } from '../contract/model.ts';
import type { Agent, RuntimeName } from '../contract/workflow.ts';
import type { Job, Runtime } from './runtime.ts';

/** What an agent says of the program to start. */
export type Commanded = Pick<Agent, 'command'>;

export interface RuntimeDescriptor {
  name: RuntimeName;
  load(): Promise<Runtime>;
  /** The model APIs that it speaks, what it likes best first. Absent where only its command knows. */
  dialects?: readonly Dialect[];
  /** The program behind it. Absent where the agent's `command` names it. */
  program?: Program;
  /** A package that must be there too; it may bring a program of its own. */
  sdk?: { find(): string | undefined; install: string };
  /** Agents that are known to be named in `command`. */
  agents?: readonly KnownAgent[];
  /** Where its program keeps a login of its own. */
  login?: LoginPlace;
  /** Logins of this machine that it may use. */
  logins: readonly ProgramLogin[];
  /** Variables that keep its program from reaching out, and from giving up on its own. */
  variables?: Readonly<Record<string, string>>;
  /** The words that make its program go on with an earlier conversation; absent where it takes none. */
  resume?(session: NonNullable<Job['session']>): string[];
  /** Files at the top of a repository that it obeys whatever it is told: the fence covers them. */
  obeys(agent: Commanded | undefined): readonly string[];
  /** What a fence must show so that its program can be started. */
  reads(agent: Commanded | undefined): string[];
  /** It counts the agent's turns itself; else the gateway does. */
  countsTurns?: true;
  /** It takes only schemas in which every field is required. */
  needsStrictSchemas?: true;
  /** Why it never asks a person. */
  asksNobody?: string;
}

interface Program {
  /** What to look for on the PATH. */
  name: string;
  /** How it is got, for those who do not have it. */
  install: string;
}

/** A runtime with a program that is looked for on the PATH. */
export type ProgramRuntime = RuntimeDescriptor & { program: Program };

/** An agent that speaks the Agent Client Protocol, and of which more is known than that. */
export interface KnownAgent {
  /** By the last part of a word of its command. */
  isProgram: RegExp;
  /** What to look for on the PATH. */
  program: string;
  command: string;
  /** The package that brings it, where it has one for this alone. */
  package?: string;
  dialects: readonly Dialect[];
  obeys: readonly string[];
  login?: ProgramLogin;
  /** The runtime that talks with the same program in another way. */
  behind?: RuntimeDescriptor;
  prepare(job: Job): Promise<PreparedAgent>;
}

export interface PreparedAgent {
  env: Record<string, string>;
  /** Goes along when a conversation is opened. */
  meta?: { [key: string]: unknown };
  /** The conversation that stands for one to be copied, where its files are copied before it is started. */
  copy?: string;
  /** An earlier conversation would only fail it. */
  beginsAnew?: boolean;
  /** How it is to sign in, where it must. */
  authMethod?: string;
  /** What a shell does in the fence before the agent is started. */
  first?: string;
}
