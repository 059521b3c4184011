/**
 * The runtime for any agent that speaks the Agent Client Protocol: it is started by its command and talked with over its
 * stdin and stdout. We offer it no files and no terminals of ours: it has its own, behind the fence.
 */
import { Readable, Writable } from 'node:stream';
import {
  client,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  type ClientConnection,
  type InitializeResponse,
  type PromptResponse,
  type RequestError,
} from '@agentclientprotocol/sdk';
import { BosunError } from '../../contract/errors.ts';
import { askingSome } from '../agent/ask-person.ts';
import { agentError } from '../agent/error.ts';
import { failed } from '../agent/command.ts';
import { AgentStory } from '../agent/story.ts';
import { WaitingSteers } from '../agent/waiting-steers.ts';
import { prepareAcpAgent, type AcpAgent } from './agents.ts';
import { AcpReader } from './events.ts';
import { fillIn } from './form.ts';
import { permit } from './permit.ts';
import { openSession, type AcpSession } from './session.ts';
import { firstWords } from '../agent/first-words.ts';
import { askForJson } from '../output/json-in-text.ts';
import type { Job, Result, Runtime } from '../runtime.ts';
import { runTalk, type Peer } from '../agent/talk.ts';

const MESSAGE_BYTES_MAX = 8 * 1024 * 1024;

export const acp: Runtime = {
  async run(job: Job): Promise<Result> {
    try {
      return await runAcp(job);
    } catch (error) {
      if (!(error instanceof BosunError)) throw error;
      const { message } = error;
      return { outcome: failed('start', message), output: null, error: { kind: 'crashed', message } };
    }
  },
};

async function runAcp(job: Job): Promise<Result> {
  const agent = await prepareAcpAgent(job);
  const story = new AgentStory(agent.name, job);
  const reader = new AcpReader(story);
  const steers = new WaitingSteers();
  const stopListening = job.onSteer((text, about) => steers.add(text, about));
  let interrupt: (() => void) | undefined;
  let last: PromptResponse | undefined;
  try {
    const ended = await runTalk(job, {
      argv: agent.argv,
      env: agent.env,
      interrupt: () => interrupt?.(),
      async converse(peer) {
        const connection = connect(job, peer, reader);
        try {
          const { sessionId, goesOn } = await openConversation(job, agent, connection, reader, story);
          const cancel = { sessionId };
          interrupt = () =>
            void connection.agent.notify(methods.agent.session.cancel, cancel).catch(() => {});
          let text = promptOf(job, goesOn);
          for (;;) {
            last = await connection.agent.request(methods.agent.session.prompt, {
              sessionId,
              prompt: [{ type: 'text', text }],
            });
            reader.endTurn(last);
            const said = last.stopReason === 'end_turn' ? steers.take() : undefined;
            if (said === undefined) break;
            text = said;
            story.begin();
          }
        } catch (error) {
          if (!isAnswer(error)) throw error;
          story.failed(agentError(wordsOf(error)));
        } finally {
          connection.close();
        }
      },
    });
    if (last?.stopReason === 'max_turn_requests' && ended.outcome.kind === 'done') {
      const message = `${agent.name} was not done after as many turns as it allows itself`;
      return story.end({ ...ended, outcome: failed('limit', message) });
    }
    return story.end(ended);
  } finally {
    stopListening();
  }
}

function connect(job: Job, peer: Peer, reader: AcpReader): ClientConnection {
  const stream = ndJsonStream(Writable.toWeb(peer.stdin), Readable.toWeb(peer.stdout), {
    maxMessageBytes: MESSAGE_BYTES_MAX,
  });
  const asker = askingSome(job, peer.breakOff);
  return client({ name: 'bosun' })
    .onNotification(methods.client.session.update, ({ params }) => reader.read(params))
    .onRequest(methods.client.session.requestPermission, ({ params }) => permit(asker, params))
    .onRequest(methods.client.elicitation.create, ({ params }) => fillIn(asker, params))
    .connect(stream);
}

async function openConversation(
  job: Job,
  agent: AcpAgent,
  { agent: peer }: ClientConnection,
  reader: AcpReader,
  story: AgentStory,
): Promise<AcpSession> {
  const hello: InitializeResponse = await peer.request(methods.agent.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    clientInfo: { name: 'bosun', version: '0' },
    clientCapabilities: {
      fs: { readTextFile: false, writeTextFile: false },
      terminal: false,
      elicitation: { form: {} },
    },
  });
  const session = await openSession(job, agent, peer, hello);
  if (session.isToldAgain) await reader.quiet();
  reader.begin();
  story.started(session.sessionId, job.agent?.model, session.forgets);
  return session;
}

/** The protocol knows no system prompt and no schema, so the prompt says both. */
function promptOf(job: Job, goesOn: boolean): string {
  const { agent, session, schema } = job;
  const known = session && goesOn ? session : undefined;
  const words = firstWords(job, known, schema && askForJson(schema));
  return [known ? undefined : agent?.prompt, words].filter(Boolean).join('\n\n');
}

/** What the agent answered, as against a connection that broke. */
function isAnswer(error: unknown): error is RequestError {
  return typeof (error as RequestError).code === 'number';
}

/** Agents put what the model's server said into the data. */
function wordsOf({ message, data }: RequestError): string {
  return data === undefined
    ? message
    : `${message}: ${typeof data === 'string' ? data : JSON.stringify(data)}`;
}
