/**
 * The same steps on the libraries people would use instead. Each side is a process of its own that opens its
 * store on disk, warms up with ten steps, then times one workflow; how each is set up is said in its own file
 * under peers/.
 *
 * Our tasks run behind fences of their own, which no peer offers. So there are two comparisons: with the peers' steps
 * started through the very same command line, mounts, filter and pipes as ours (what differs is scheduling and
 * journal), and with fences on neither side: ours with `unfenced` (still a shell in a pid namespace of its own, with
 * pipes whose output is recorded), theirs as a plain `true` without pipes.
 */
import { existsSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { workflowOf } from './bosun.ts';
import { run } from './command.ts';
import { launchOf, placed } from './fenced.ts';
import { launchLine, type Line } from './launch-line.ts';
import { below, forScale, interleave, progress, roundsOr, type Bench, type Figure } from './measure.ts';
import { makeRepository } from './repository.ts';
import { scratch } from './scratch.ts';

const PEERS = ['openworkflow', 'mastra', 'langgraph'] as const;
const SHAPES = [
  { shape: 'chain', count: 100, rounds: 5 },
  { shape: 'fan-out', count: 1000, rounds: 3 },
] as const;
/** What a peer's step starts. */
type Step = Partial<Line> & { argv: string[]; pipes: boolean };

const here = import.meta.dirname;
const directory = path.join(here, 'peers');

export const bench: Bench = {
  name: 'peers',
  about:
    'a chain of 100 and a fan-out of 1,000 steps, durable, against OpenWorkflow, Mastra and LangGraph.js',
  async *figures(): AsyncIterable<Figure> {
    await install();
    const steps: Record<string, Step> = {
      'same launch': await fencedStep(),
      'unfenced, plain true': { argv: ['true'], pipes: false },
    };
    for (const { shape, count, rounds } of SHAPES) {
      for (const [launch, step] of Object.entries(steps)) {
        const label = `${shape} of ${count}, ${launch}`;
        const peer = (name: string) => () => wallMs(path.join(directory, `${name}.js`), shape, count, step);
        const taken = await interleave(label, roundsOr(rounds), {
          bosun: () => wallMs(path.join(here, 'bosun.ts'), shape, count, step),
          openworkflow: peer('openworkflow'),
          mastra: peer('mastra'),
          langgraph: peer('langgraph'),
          floor: peer('floor'),
        });
        for (const name of PEERS)
          yield below({ name: `${label}: ${name}`, value: taken.bosun, baseline: taken[name] });
        yield forScale({ name: `${label}: bare loop`, value: taken.bosun, baseline: taken.floor });
      }
    }
  },
};

/** The line that ours is started with; all steps of a peer share the one directory that is a task's own. */
async function fencedStep(): Promise<Step> {
  const repo = await makeRepository(1);
  const { launch } = await launchOf(repo, workflowOf('apart', 1, { workspace: 'none' }));
  return { ...launchLine(placed(launch, path.join(scratch('step'), 'directories'))), pipes: true };
}

async function wallMs(file: string, shape: string, count: number, step: Step): Promise<number> {
  const env = {
    ...process.env,
    BENCH_STEP: JSON.stringify(step),
    // As the bosun command sets it for itself: what is measured is not the reading of sources, on any side.
    NODE_COMPILE_CACHE: path.join(tmpdir(), 'bosun-bench-cache'),
    TMPDIR: scratch(path.parse(file).name),
  };
  const printed = await run([process.execPath, file, shape, String(count)], { env });
  return (JSON.parse(printed.trim().split('\n').at(-1)!) as { wallMs: number }).wallMs;
}

/** Installs the peers where they are missing or not those of the lock file. */
async function install(): Promise<void> {
  const installed = path.join(directory, 'node_modules', '.package-lock.json');
  const locked = path.join(directory, 'package-lock.json');
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(locked).mtimeMs) return;
  progress('installing the peers (240 MB, once)');
  // npm picks and builds for the Node it finds first.
  const env = { ...process.env, PATH: `${path.dirname(process.execPath)}:${process.env.PATH}` };
  await run(['npm', 'ci', '--no-audit', '--no-fund'], { cwd: directory, env });
}
