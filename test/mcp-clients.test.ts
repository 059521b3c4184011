/** What the protocol's own client gets beyond tools, over both transports and in both eras: progress, resources, forms. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { BOSUN, environment } from './fixtures/cli.ts';
import { connect, ERAS, overStdio } from './fixtures/mcp-client.ts';
import { serveMcp } from './fixtures/mcp-http.ts';
import { makeRepository } from './fixtures/repository.ts';

const ASKING = {
  name: 'ask',
  tasks: {
    look: { agent: { runtime: 'cli', command: 'echo "It is fine."' }, prompt: 'x' },
    ship: { needs: ['look'], approve: 'Ship?' },
  },
};
const WAYS = ['stdio', 'HTTP'].flatMap((way) => ERAS.map((era) => [way, era] as const));

/** A client that starts a session with a handshake over HTTP has no stream on which it could be asked. */
const canBeAsked = (way: string, era: string): boolean => way === 'stdio' || era === '2026-07-28';

async function openWay(way: string, cwd: string): Promise<{ transport: Transport } & AsyncDisposable> {
  if (way === 'stdio') return { transport: overStdio(cwd), async [Symbol.asyncDispose]() {} };
  const served = await serveMcp(() => ({ cwd }));
  return {
    transport: new StreamableHTTPClientTransport(served.url),
    [Symbol.asyncDispose]: () => served[Symbol.asyncDispose](),
  };
}

describe('a client', { timeout: 60_000 }, () => {
  it.each(WAYS)(
    'over %s in revision %s hears how far a run is, puts its question, and reads it',
    async (way, era) => {
      await using repository = await makeRepository();
      await using opened = await openWay(way, repository.path);
      const forms: string[] = [];
      await using agent = await connect(era, opened.transport, {
        person: ({ message }) => (forms.push(message), { answer: true }),
      });
      await agent.call('engine_execute', { workflow: ASKING });
      const told: { progress: number; total?: number; message?: string }[] = [];
      const wait = { waitSeconds: 60 };
      const asking = await agent.call('engine_status', wait, { onprogress: (it: never) => told.push(it) });
      expect(asking).toMatchObject({ run: { questions: [{ id: 'ship' }] } });
      expect(asking.outputs).toBeUndefined();
      expect(told[0]).toMatchObject({
        total: 60,
        message: expect.stringMatching(/^\d of 2 tasks ended, \d at work$/),
      });
      const answered = await agent.call('engine_answer', { answer: 'yes' });
      expect(answered).toMatchObject({ answer: 'yes', isPending: false });
      expect(forms).toEqual(canBeAsked(way, era) ? ['ship of run ask-1 asks: Ship?'] : []);
      expect(await agent.call('engine_status', wait)).toMatchObject({
        run: { state: 'done' },
        outputs: [{ task: 'look', output: 'It is fine.' }],
      });
      const { resources } = await agent.client.listResources();
      expect(resources.map(({ uri }) => uri)).toEqual(
        ['', '/log', '/report'].map((part) => `bosun://runs/ask-1${part}`),
      );
      const { resourceTemplates } = await agent.client.listResourceTemplates();
      expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual(
        ['', '/log', '/report'].map((part) => `bosun://runs/{run}${part}`),
      );
      const texts = resources.map(async ({ uri }) => (await agent.client.readResource({ uri })).contents[0]);
      const [run, log, report] = (await Promise.all(texts)) as { text: string }[];
      expect(JSON.parse(run!.text)).toMatchObject({ run: { id: 'ask-1', state: 'done' } });
      expect(log!.text).toContain('answered yes, by program ');
      expect(report!.text).toMatch(/^✓ ask-1 done .*Outputs\n {2}ship /s);
    },
  );
});

it.each(['SIGTERM', 'SIGINT'] as const)(
  'bosun mcp ends at %s, also where its client keeps stdin open',
  async (signal) => {
    await using repository = await makeRepository();
    const child = spawn(BOSUN, ['mcp'], {
      cwd: repository.path,
      env: environment(),
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })}\n`);
    await once(child.stdout, 'data');
    child.kill(signal);
    expect(await once(child, 'exit')).toEqual([0, null]);
  },
);
