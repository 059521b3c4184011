/** The agents' socket under an agent that sends anything: each line has an answer, nothing breaks, and others are served. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import { openCrew } from '../src/crew/crew.ts';
import { schemaOfInput, TOOL_NAMES } from '../src/crew/tools.ts';
import { crewTools } from './fixtures/crew-tools.ts';
import { seeded, spoiled } from './fixtures/seeded.ts';

const SEED = 20_261_119;
const COUNT = 60_000;
/** On one connection, before the answers are read. */
const AT_ONCE = 16;
const CONNECTIONS = 4;

it(`answers each of ${COUNT} mutated requests, and nothing breaks`, { timeout: 120_000 }, async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'bosun-fuzz-'));
  const crew = await openCrew({ socketPath: path.join(directory, 's'), tools: crewTools() });
  const failures: unknown[] = [];
  const note = (error: unknown): void => void failures.push(error);
  process.on('unhandledRejection', note);
  const codes = new Map<number | 'result', number>();
  try {
    await Promise.all(
      Array.from({ length: CONNECTIONS }, async (_, n) => {
        const random = seeded(SEED + n);
        const socket = connect(crew.socketPath);
        await once(socket, 'connect');
        const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
        for (let sent = 0; sent < COUNT / CONNECTIONS; sent += AT_ONCE) {
          const some = Array.from({ length: AT_ONCE }, () => mutated(random));
          socket.write(some.map((line) => `${line}\n`).join(''));
          for (const line of some) {
            const { done, value } = (await lines.next()) as { done?: boolean; value: string };
            if (done) throw new Error(`the connection ended after ${line.slice(0, 300)}`);
            const { error } = JSON.parse(value) as { error?: { code: number; message: string } };
            if (error?.code === -32_603) throw new Error(`${error.message} for one of ${some.join('\n')}`);
            const code = error?.code ?? 'result';
            codes.set(code, (codes.get(code) ?? 0) + 1);
          }
        }
        socket.destroy();
      }),
    );
  } finally {
    process.off('unhandledRejection', note);
    await crew[Symbol.asyncDispose]();
    await rm(directory, { recursive: true });
  }
  expect(failures).toEqual([]);
  expect([...codes.keys()]).toEqual(expect.arrayContaining(['result', -32_700, -32_600, -32_601, -32_602]));
});

const ODD: readonly unknown[] = [
  null,
  true,
  -1,
  1e308,
  0.5,
  '',
  'x'.repeat(5000),
  '\u0000\u001B[2J\u202E',
  '../../etc/passwd',
  '**',
  [],
  {},
  [[[[]]]],
  ['a', 'b'],
  'yes',
  'main',
  3000,
];

/** A call of a tool, with values for its fields that fit or do not, and now and then a spoiled character. Never empty. */
function mutated(random: () => number): string {
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)]!;
  const name = pick(TOOL_NAMES);
  const { properties, required = [] } = schemaOfInput(name) as unknown as {
    properties: Record<string, { type?: string; enum?: unknown[] }>;
    required?: string[];
  };
  const fields = Object.entries(properties).flatMap(([field, { type, enum: choices }]) => {
    if (!required.includes(field) && random() < 0.5) return [];
    if (random() < 0.2) return [[random() < 0.3 ? pick(['__proto__', 'constructor', '']) : field, pick(ODD)]];
    if (choices) return [[field, pick(choices)]];
    const fits = { string: 'a', array: ['a'], integer: 1, number: 1, boolean: true }[String(type)] ?? {};
    return [[field, fits]];
  });
  const whole = {
    jsonrpc: random() < 0.97 ? '2.0' : pick(ODD),
    id: random() < 0.95 ? 1 : pick(ODD),
    method: random() < 0.95 ? name : pick(['toString', '__proto__', 'tools/call', '', 'nothing']),
    params: random() < 0.95 ? Object.fromEntries(fields) : pick(ODD),
  };
  const text = JSON.stringify(whole);
  const line = random() < 0.9 ? text : spoiled(text, random);
  return line.replaceAll(/[\n\r]/g, ' ').trim() || '{';
}
