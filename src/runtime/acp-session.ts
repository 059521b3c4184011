/** Opens a conversation with an agent: a new one, or an earlier one where the agent can. Signs in only where it must. */
import {
  methods,
  type ClientContext,
  type InitializeResponse,
  type McpServer as AcpServer,
  type NewSessionResponse,
  type SessionConfigOption,
} from '@agentclientprotocol/sdk';
import type { McpServer } from '../contract/model.ts';
import type { AcpAgent } from './acp-agents.ts';
import type { Job } from './runtime.ts';

/** The protocol's code for: sign in first. */
const AUTH_REQUIRED = -32000;

export interface AcpSession {
  sessionId: string;
}

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
  const open = (): Promise<AcpSession & Partial<NewSessionResponse>> =>
    goOn(job, peer, hello, what) ?? peer.request(methods.agent.session.new, what);
  let session: AcpSession & Partial<NewSessionResponse>;
  try {
    session = await open();
  } catch (error) {
    const method = hello.authMethods?.find(({ id }) => id === agent.authMethod) ?? hello.authMethods?.[0];
    if ((error as { code?: number }).code !== AUTH_REQUIRED || !method) throw error;
    await peer.request(methods.agent.authenticate, { methodId: method.id });
    session = await open();
  }
  await chooseModel(job, peer, session);
  return { sessionId: session.sessionId };
}

/** The protocol cannot fork: going on leaves the earlier conversation longer than it was, which is the lesser evil. */
function goOn(
  { session }: Job,
  peer: ClientContext,
  hello: InitializeResponse,
  what: { cwd: string; mcpServers: AcpServer[] },
): Promise<AcpSession & Partial<NewSessionResponse>> | undefined {
  if (!session) return undefined;
  const { loadSession, sessionCapabilities } = hello.agentCapabilities ?? {};
  const request = { ...what, sessionId: session.id };
  const opened = sessionCapabilities?.resume
    ? peer.request(methods.agent.session.resume, request)
    : loadSession === true
      ? peer.request(methods.agent.session.load, request)
      : undefined;
  return opened
    ?.then((response) => ({ ...(response as object), sessionId: session.id }))
    .catch((error: unknown) => {
      if ((error as { code?: number }).code === AUTH_REQUIRED) throw error;
      // A conversation that was lost is begun anew rather than failed.
      return peer.request(methods.agent.session.new, what);
    });
}

/** Where the agent lets its models be chosen; else variables of ours did what can be done. */
async function chooseModel(
  { agent }: Job,
  peer: ClientContext,
  { sessionId, configOptions }: AcpSession & Partial<NewSessionResponse>,
): Promise<void> {
  const model = agent?.model;
  if (model === undefined) return;
  const option = configOptions?.find(({ category }) => category === 'model');
  const value = option && valuesOf(option).find((known) => known === model || known.endsWith(`/${model}`));
  if (!option || value === undefined) return;
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
