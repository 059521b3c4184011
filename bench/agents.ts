/**
 * What we add to a real agent, and what a replay saves: Codex, the lightest of them, against the scripted model server
 * in a process of its own. "Bare" is the very same command line with the same settings, started by hand.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Agent } from '../src/contract/workflow.ts';
import { Bosun, workflow, type WorkflowSource } from '../src/index.ts';
import { codex } from '../src/runtime/codex/codex.ts';
import { OutputSink } from '../src/runtime/output/output.ts';
import { BareLauncher } from '../src/sandbox/none.ts';
import { run, startProgram } from './command.ts';
import { atLeast, atMost, interleave, roundsOr, timed, type Bench, type Figure } from './measure.ts';
import { makeRepository } from './repository.ts';
import { scratch } from './scratch.ts';

const ROUNDS = 5;
const CHAIN = 5;
const OWN_MS_MAX = 150;
const REPLAYED_TASKS = 20;
const REPLAY_RATIO_MIN = 5;
const AGENT = { runtime: 'codex', model: 'gpt-5.1' } as const;
const REAL_BIN = path.resolve(import.meta.dirname, '../test/real/node_modules/.bin');

const QUICK = { answers: [{ run: 'echo hi > hello.txt' }, { text: 'all done' }] };
/** As a model of some thought answers. */
const SLOW = {
  answers: [
    ...[1, 2, 3, 4].map((n) => ({ run: `echo ${n} >> hello.txt`, delay: '2s' })),
    { text: 'all done', delay: '2s' },
  ],
};

export const bench: Bench = {
  name: 'agents',
  about: 'what we add to a real agent, and what a replay saves',
  async *figures(): AsyncIterable<Figure> {
    await run(['sh', 'scripts/real-agents.sh'], { cwd: path.resolve(import.meta.dirname, '..') });
    process.env.PATH = `${REAL_BIN}:${process.env.PATH}`;
    process.env.OPENAI_API_KEY = 'sk-bench-0123456789';
    const quick = await modelServer(QUICK);
    yield await ownTime(quick.said);
    await quick.end();
    const slow = await modelServer(SLOW);
    yield await replay(slow.said);
    await slow.end();
  },
};

/** From the start of an attempt to the end of its task, merged, in a chain of tasks; less what the agent takes bare. */
async function ownTime(url: string): Promise<Figure> {
  const repo = await makeRepository(100);
  process.env.OPENAI_BASE_URL = `${url}/v1`;
  const chain: WorkflowSource = {
    name: 'chain',
    tasks: Object.fromEntries(
      Array.from({ length: CHAIN }, (_, n) => [
        `task-${n}`,
        { agent: AGENT, prompt: `Work ${n}.`, ...(n > 0 && { needs: [`task-${n - 1}`] }) },
      ]),
    ),
  };
  await runOnce(repo, chain);
  const taken = await interleave('a task with a real agent', roundsOr(ROUNDS), {
    bosun: async () => (await runOnce(repo, chain)) / CHAIN,
    bare: async () => (await timed(() => times(CHAIN, () => bareMs(url)))) / CHAIN,
  });
  return atMost(1, {
    name: 'our own time per task with a real agent',
    value: taken.bosun - taken.bare,
    baseline: OWN_MS_MAX,
  });
}

async function replay(url: string): Promise<Figure> {
  const repo = await makeRepository(100);
  process.env.OPENAI_BASE_URL = `${url}/v1`;
  const many: WorkflowSource = {
    name: 'many',
    // Each in a file of its own, so that nothing conflicts.
    tasks: Object.fromEntries(
      Array.from({ length: REPLAYED_TASKS }, (_, n) => [
        `task-${n}`,
        { agent: AGENT, prompt: `Work ${n}.`, 'on-conflict': 'theirs' },
      ]),
    ),
  };
  const file = path.join(scratch('cassette'), 'run.cassette');
  const recordedMs = await runOnce(repo, many, { record: file });
  const taken = await interleave('a replay', roundsOr(1), {
    replay: () => runOnce(repo, many, { replay: file }),
  });
  return atLeast(REPLAY_RATIO_MIN, {
    name: `replay of ${REPLAYED_TASKS} tasks, where the model takes 2 s a response`,
    value: taken.replay,
    baseline: recordedMs,
  });
}

/** From the first attempt to the last task done. */
async function runOnce(
  repo: string,
  source: WorkflowSource,
  cassette: { record?: string; replay?: string } = {},
): Promise<number> {
  let [beganMs, endedMs] = [Infinity, 0];
  const live = await new Bosun(repo).run(workflow(source), {
    ...cassette,
    seen(events) {
      for (const { event } of events) {
        if (event.type === 'attempt.started') beganMs = Math.min(beganMs, performance.now());
        if (event.type === 'task.finished') endedMs = performance.now();
      }
    },
  });
  const { state } = await live.finished;
  if (state !== 'done') throw new Error(`run ${live.id} in ${repo} is ${state}`);
  return endedMs - beganMs;
}

/** The agent alone, from the start of its program to its end. */
async function bareMs(url: string): Promise<number> {
  const root = scratch('bare');
  const [cwd, files, memory] = ['work', 'files', 'memory'].map((name) => {
    mkdirSync(path.join(root, name));
    return path.join(root, name);
  }) as [string, string, string];
  const launcher = new BareLauncher();
  const never = new AbortController().signal;
  let ms = 0;
  const result = await codex.run({
    agent: Agent.parse(AGENT),
    prompt: 'Work.',
    feedback: undefined,
    env: { PATH: process.env.PATH!, HOME: root, TMPDIR: files },
    cwd,
    files,
    memory,
    timeoutMs: undefined,
    heldMs: () => 0,
    stop: { graceful: never, now: never },
    output: new OutputSink(() => {}),
    async launch(what) {
      const startMs = performance.now();
      const running = launcher.launch({ ...what, cwd });
      void running.exited.then(() => (ms = performance.now() - startMs));
      return running;
    },
    models: { baseUrl: `${url}/v1`, key: 'none', providers: { openai: 'openai' } },
    session: undefined,
    schema: undefined,
    mcp: {},
    isFenced: false,
    isReadOnly: false,
    emit: () => {},
    ask: () => Promise.resolve({ answer: 'no', by: 'ended' }),
    onSteer: () => () => {},
  });
  if (result.outcome.kind !== 'done' || readFileSync(path.join(cwd, 'hello.txt'), 'utf8') !== 'hi\n')
    throw new Error(`the agent alone: ${JSON.stringify(result)}`);
  return ms;
}

async function times(count: number, action: () => Promise<unknown>): Promise<void> {
  for (let n = 0; n < count; n += 1) await action();
}

function modelServer(script: object): ReturnType<typeof startProgram> {
  const file = path.join(scratch('script'), 'script.json');
  writeFileSync(file, JSON.stringify(script));
  return startProgram('scripted-side.ts', file);
}
