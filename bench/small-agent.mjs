/** The smallest agent that speaks ACP and asks a model: it says what the model says, piece by piece. */
import { createInterface } from 'node:readline';

const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize')
    say({ id, result: { protocolVersion: params.protocolVersion, agentCapabilities: {}, authMethods: [] } });
  else if (method === 'session/new') say({ id, result: { sessionId: 'one' } });
  else if (method === 'session/prompt') void prompt(id, params.sessionId);
  else if (id !== undefined) say({ id, result: {} });
}

async function prompt(id, sessionId) {
  const response = await fetch(`${process.env.ANTHROPIC_BASE_URL}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': process.env.ANTHROPIC_API_KEY },
    body: JSON.stringify({
      model: 'claude-sonnet-5',
      max_tokens: 1000,
      stream: true,
      messages: [{ role: 'user', content: 'Say something.' }],
    }),
  });
  for await (const piece of response.body) {
    const text = Buffer.from(piece).toString().slice(0, 100);
    const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } };
    say({ method: 'session/update', params: { sessionId, update } });
  }
  say({ id, result: { stopReason: 'end_turn' } });
}
