/** An engine that is killed before a webhook took what it was sent: the next one sends it again, under the same id. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { BOSUN, startProgram, type Started } from '../fixtures/cli.ts';
import { makeRepository, type TestRepository } from '../fixtures/repository.ts';

interface Heard {
  id: string;
  type: string;
  task?: string;
  at: string;
  counts?: object;
}

let repository: TestRepository;
let server: Server;
let heard: Heard[];
/** The engine is killed instead of being answered. */
let isDeadly: (told: Heard) => boolean;
let engine: Started;

beforeAll(async () => {
  repository = await makeRepository({ files: { 'README.md': 'hello\n' } });
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const told = { ...(JSON.parse(body) as Heard), id: request.headers['webhook-id'] as string };
      heard.push(told);
      if (isDeadly(told)) engine.child.kill('SIGKILL');
      else response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const directory = path.join(repository.path, '.git', 'config-of-anna', 'bosun');
  mkdirSync(directory, { recursive: true });
  const hook = { on: ['after-attempt', 'run-ended'], name: 'web', url };
  writeFileSync(path.join(directory, 'config.yaml'), JSON.stringify({ hooks: [hook] }));
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await repository[Symbol.asyncDispose]();
});
beforeEach(() => {
  heard = [];
});

function bosun(...args: string[]): Promise<void> {
  return bosunAs({}, ...args);
}

async function bosunAs(more: Record<string, string>, ...args: string[]): Promise<void> {
  const XDG_CONFIG_HOME = path.join(repository.path, '.git', 'config-of-anna');
  engine = startProgram([BOSUN, ...args], repository.path, { XDG_CONFIG_HOME, ...more });
  const { code, stderr } = await engine.finished;
  if (code !== 0 && code !== null) throw new Error(stderr);
}

it('what a killed engine could not tell is told by the one that goes on, and what was taken is not told twice', async () => {
  writeFileSync(
    path.join(repository.path, 'bosun.yaml'),
    'name: two\ntasks: { one: { run: "true" }, two: { needs: [one], run: "true" } }\n',
  );
  isDeadly = ({ task }) => task === 'two';
  await bosun('run');
  expect(heard.map(({ task }) => task)).toEqual(['one', 'two']);
  const [, lost] = heard;
  isDeadly = () => false;
  await bosun(...((await hasEnded()) ? ['exec', '--', 'true'] : ['resume', 'two-1']));
  const again = heard.slice(2).filter(({ task }) => task === 'two');
  expect(again).toEqual([expect.objectContaining({ id: lost!.id, type: 'after-attempt' })]);
  expect(heard.filter(({ task }) => task === 'one')).toHaveLength(1);
});

it('the end of a run that nobody drives again is told by the next engine, once', async () => {
  isDeadly = ({ type }) => type === 'run-ended';
  await bosun('exec', '--', 'true');
  const lost = heard.at(-1)!;
  expect(lost.type).toBe('run-ended');
  isDeadly = () => false;
  await bosun('exec', '--', 'true');
  const again = heard.filter(({ id }) => id === lost.id);
  expect(again).toHaveLength(2);
  expect(again[1]).toMatchObject({ type: 'run-ended', counts: lost.counts });
  const count = heard.length;
  await bosun('exec', '--', 'true');
  expect(heard.slice(count).filter(({ id }) => id === lost.id)).toEqual([]);
});

it('what the journal of another user says was not told is not told, as in an archive that somebody unpacks', async () => {
  isDeadly = ({ type }) => type === 'run-ended';
  await bosun('exec', '--', 'true');
  const lost = heard.at(-1)!;
  isDeadly = () => false;
  const told = (): number => heard.filter(({ id }) => id === lost.id).length;
  await bosunAs({ XDG_STATE_HOME: path.join(repository.path, '.git', 'state-of-ben') }, 'exec', '--', 'true');
  expect(heard.at(-1)!.type).toBe('run-ended');
  expect(told()).toBe(1);
  await bosun('exec', '--', 'true');
  expect(told()).toBe(2);
});

async function hasEnded(): Promise<boolean> {
  const { stdout } = await startProgram([BOSUN, 'status', '--json'], repository.path).finished;
  return (JSON.parse(stdout) as { run: { state: string } }).run.state === 'done';
}
