/** An engine that is killed while its agents talk: what was sent is there, and nobody gets it twice. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import type { Event } from '../../src/contract/event.ts';
import { Bosun } from '../../src/index.ts';
import { makeRepository } from '../fixtures/repository.ts';

const PROGRAM = path.resolve('test/fixtures/talk-crash-program.ts');
/** Far more than such a run has; reaching it is a failure. */
const POINTS_MAX = 100;
const AT_ONCE = 2;

/** A process of its own, since it is to be killed. */
async function engine(repository: string, dieAt: number): Promise<string> {
  try {
    const args = [PROGRAM, 'run', repository, String(dieAt)];
    return (await promisify(execFile)(process.execPath, args)).stdout.trim();
  } catch (error) {
    const { signal, stderr } = error as { signal: string | null; stderr: string };
    if (signal === 'SIGKILL') return 'killed';
    throw new Error(`the engine failed: ${stderr}`, { cause: error });
  }
}

async function crashAt(point: number): Promise<'reached' | 'past the end'> {
  await using repository = await makeRepository({ files: { 'README.md': 'hello\n' } });
  const first = await engine(repository.path, point);
  const bosun = new Bosun(repository.path);
  if (first === 'killed' && (await bosun.status()).run.state === 'interrupted')
    expect((await (await bosun.resume()).finished).state, `killed at point ${point}`).toBe('done');
  expect((await bosun.status()).run.state).toBe('done');
  const events: Event[] = [];
  for await (const page of bosun.events()) events.push(...page.map(({ event }) => event));
  checkMessages(events, `killed at point ${point}`);
  return first === 'killed' ? 'reached' : 'past the end';
}

/** As the journal has it, and as the reader printed it. */
function checkMessages(events: readonly Event[], at: string): void {
  const decided = new Map<string, string>();
  const acknowledged = new Set<string>();
  const given = new Map<string, number[]>();
  let printed = '';
  let lastAttempt = 0;
  for (const event of events) {
    if (event.type === 'message.sent') expect(decided.has(event.id), `${at}: ${event.id} twice`).toBe(false);
    if (event.type === 'message.delivered' || event.type === 'message.refused') {
      expect(decided.has(event.id), `${at}: ${event.id} decided twice`).toBe(false);
      decided.set(event.id, event.type);
    }
    if (event.type === 'message.read') {
      for (const id of event.ids) {
        expect(acknowledged.has(id), `${at}: ${id} after it was acknowledged`).toBe(false);
        expect(given.get(id) ?? [], `${at}: ${id} twice to one attempt`).not.toContain(event.attempt);
        given.set(id, [...(given.get(id) ?? []), event.attempt]);
      }
      for (const id of event.acknowledged ?? []) acknowledged.add(id);
    }
    if (event.type === 'attempt.started' && event.task === 'reader') lastAttempt = event.attempt;
    if (event.type === 'attempt.output' && event.task === 'reader' && event.attempt === lastAttempt)
      printed += event.stream === 'stdout' ? event.text : '';
    if (event.type === 'task.finished' && event.task === 'reader') break; // what comes later has no reader
  }
  expect(decided.size, at).toBeGreaterThan(0);
  for (const [id, how] of decided) {
    if (how !== 'message.delivered' || acknowledged.has(id)) continue;
    const last = given.get(id)?.at(-1);
    if (last === undefined) continue; // sent after the reader had what it waits for
    expect(last, `${at}: ${id} was lost with an attempt`).toBe(lastAttempt);
    expect(printed, `${at}: ${id} was read and not given`).toContain(`${id} from writer to reader`);
  }
  expect(printed, at).toContain('| end by attempt');
}

it('loses no message and gives none twice, wherever the engine is killed', { timeout: 900_000 }, async () => {
  let next = 1;
  let isPast = false;
  let reached = 0;
  const worker = async (): Promise<void> => {
    while (!isPast && next < POINTS_MAX) {
      if ((await crashAt(next++)) === 'past the end') isPast = true;
      else reached++;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  expect(isPast).toBe(true);
  expect(reached).toBeGreaterThan(8);
});
