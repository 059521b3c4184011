/** Opens a conversation with an agent: a new one, or an earlier one where the agent can. Signs in only where it must. */
import {
  methods,
  type ClientContext,
  type InitializeResponse,
  type McpServer as AcpServer,
  type NewSessionResponse,
  type SessionConfigOption,
} from '@agentclientprotocol/sdk';
import type { McpServer } from '../../contract/model.ts';
import type { AcpAgent } from './agents.ts';
import type { Job } from '../runtime.ts';

/** The protocol's code for: sign in first. */
const AUTH_REQUIRED = -32000;

/** Not in the protocol's stable part, so that an agent must say that it can. */
const FORK = 'session/fork';

export interface AcpSession {
  sessionId: string;
  /** Whether it knows what was said in an earlier attempt. */
  goesOn: boolean;
  /** Whether all of that is told again. */
  isToldAgain: boolean;
  /** Whether nothing can go on with it once the agent's program has ended. */
  forgets: boolean;
}

type Opened = Omit<AcpSession, 'forgets'> & Partial<NewSessionResponse>;

export async function openSession(
  job: Job,
  agent: AcpAgent,
  peer: ClientContext,
  hello: InitializeResponse,
): Promise<AcpSession> {
  const { http } = hello.agentCapabilities?.mcpCapabilities ?? {};
  const mcpServers = Object.entries(job.mcp)
    .filter(([, server]) => !('url' in server) || http === true)
    .map(([name, server]) => serverOf(name, server));
  const what = { cwd: job.cwd, mcpServers, ...(agent.meta && { _meta: agent.meta }) };
  const { copy, beginsAnew } = agent;
  const before = beginsAnew ? undefined : copy === undefined ? job.session : { id: copy, fork: false };
  const open = (): Promise<Opened> => goOn(before, peer, hello, what) ?? begin(peer, what);
  let session: Opened;
  try {
    session = await open();
  } catch (error) {
    const method = hello.authMethods?.find(({ id }) => id === agent.authMethod) ?? hello.authMethods?.[0];
    if ((error as { code?: number }).code !== AUTH_REQUIRED || !method) throw error;
    await peer.request(methods.agent.authenticate, { methodId: method.id });
    session = await open();
  }
  await chooseModel(job, peer, session);
  const { sessionId, goesOn, isToldAgain } = session;
  const { loadSession, sessionCapabilities } = hello.agentCapabilities ?? {};
  const forgets = loadSession !== true && !sessionCapabilities?.resume;
  return { sessionId, goesOn, isToldAgain, forgets };
}

interface Place {
  cwd: string;
  mcpServers: AcpServer[];
}

async function begin(peer: ClientContext, what: Place): Promise<Opened> {
  return { ...(await peer.request(methods.agent.session.new, what)), goesOn: false, isToldAgain: false };
}

/** Where the agent cannot fork: going on leaves the earlier conversation longer than it was, which is the lesser evil. */
function goOn(
  session: Job['session'],
  peer: ClientContext,
  hello: InitializeResponse,
  what: Place,
): Promise<Opened> | undefined {
  if (!session) return undefined;
  const { loadSession, sessionCapabilities } = hello.agentCapabilities ?? {};
  const request = { ...what, sessionId: session.id };
  const canFork = Boolean((sessionCapabilities as { fork?: object | null } | undefined)?.fork);
  const isFork = session.fork && canFork;
  const isToldAgain = !isFork && !sessionCapabilities?.resume;
  if (isToldAgain && loadSession !== true) return undefined;
  const { resume, load } = methods.agent.session;
  return peer
    .request<object>(isFork ? FORK : isToldAgain ? load : resume, request)
    .then((response) => ({ sessionId: session.id, ...response, goesOn: true, isToldAgain }))
    .catch((error: unknown) => {
      if ((error as { code?: number }).code === AUTH_REQUIRED) throw error;
      // A conversation that was lost is begun anew rather than failed.
      return begin(peer, what);
    });
}

/** Where the agent lets its models be chosen; else variables of ours did what can be done. */
async function chooseModel(
  { agent }: Job,
  peer: ClientContext,
  { sessionId, configOptions }: Opened,
): Promise<void> {
  const model = agent?.model;
  if (model === undefined) return;
  const option = configOptions?.find(({ category }) => category === 'model');
  const value = option && valuesOf(option).find((known) => known === model || known.endsWith(`/${model}`));
  if (!option || value === undefined) return;
  // To choose it again makes Claude's agent ask the model first, and give up where a rate limit has to be waited for.
  if (option.type === 'select' && option.currentValue === value) return;
  await peer.request(methods.agent.session.setConfigOption, { sessionId, configId: option.id, value });
}

function valuesOf(option: SessionConfigOption): string[] {
  if (option.type !== 'select') return [];
  return option.options.flatMap((entry) =>
    'group' in entry ? entry.options.map(({ value }) => value) : [entry.value],
  );
}

function serverOf(name: string, server: McpServer): AcpServer {
  if ('url' in server) {
    const headers = Object.entries(server.headers ?? {}).map(([name, value]) => ({ name, value }));
    return { type: 'http', name, url: server.url, headers };
  }
  const env = Object.entries(server.env ?? {}).map(([name, value]) => ({ name, value }));
  return { name, command: server.command, args: server.args ?? [], env };
}
