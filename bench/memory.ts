/** How much memory the engine takes while 100 agents are at work, each in the middle of a model's answer. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { startProgram } from './command.ts';
import { installedBosun } from './installed.ts';
import { atMost, progress, type Bench, type Figure } from './measure.ts';
import { residentMb } from './processor.ts';
import { git, makeRepository } from './repository.ts';
import { scratch } from './scratch.ts';

const AGENTS = 100;
const MB_MAX = 180;

export const bench: Bench = {
  name: 'memory',
  about: `memory of the engine with ${AGENTS} agents at work`,
  async *figures(): AsyncIterable<Figure> {
    const file = path.join(scratch('script'), 'script.json');
    // Long enough for all of them to have begun before the first ends.
    const text = 'one word after the other '.repeat(400);
    writeFileSync(file, JSON.stringify({ answers: [{ text, 'chunk-delay': '1s' }] }));
    const model = await startProgram('scripted-side.ts', file);
    const engine = await startAgents(await makeRepository(100), model.said);
    progress(`${AGENTS} agents at work`);
    let mb = 0;
    for (let n = 0; n < 40; n += 1) {
      mb = Math.max(mb, residentMb(engine.pid));
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
    await engine.end();
    await model.end();
    yield atMost(1, {
      name: `the engine with ${AGENTS} agents at work`,
      value: mb,
      baseline: MB_MAX,
      unit: 'MB',
    });
  },
};

/** Resolves once all of them have been given their prompts. */
async function startAgents(repo: string, url: string): Promise<{ pid: number; end(): Promise<void> }> {
  const program = path.join(repo, 'agent.mjs');
  copyFileSync(path.join(import.meta.dirname, 'small-agent.mjs'), program);
  writeFileSync(path.join(repo, 'many.json'), JSON.stringify(workflowOf(process.execPath)));
  await git(repo, 'add', '-A');
  await git(repo, 'commit', '-qm', 'agents');
  const env = {
    ...process.env,
    XDG_CONFIG_HOME: configOf(`providers: { anthropic: { concurrency: ${AGENTS} } }`),
    BOSUN_AGENTS: String(AGENTS), // more than a machine is given by itself
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'sk-bench-0123456789',
  };
  const child = spawn(installedBosun(), ['run', 'many.json', '--trust', '--json'], {
    cwd: repo,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const begun = new Set<unknown>();
  await new Promise<void>((resolve, reject) => {
    createInterface(child.stdout).on('line', (line) => {
      const { event } = JSON.parse(line) as {
        event: { type: string; task: string; event: { kind: string } };
      };
      if (event.type !== 'attempt.agent' || event.event.kind !== 'started') return;
      if (begun.add(event.task).size === AGENTS) resolve();
    });
    child.once('exit', () => reject(new Error('bosun ended before all agents were at work')));
  });
  const end = async (): Promise<void> => {
    child.kill('SIGINT');
    child.kill('SIGINT');
    await exited;
  };
  return { pid: child.pid!, end };
}

function workflowOf(node: string): object {
  const agent = { runtime: 'acp', command: [node, 'agent.mjs'] };
  const each = Array.from({ length: AGENTS }, (_, n) => n);
  return {
    name: 'many',
    concurrency: AGENTS,
    tasks: { many: { 'for-each': each, agent, prompt: 'Say something.' } },
  };
}

/** All of them are to be answered at once. */
function configOf(text: string): string {
  const directory = scratch('config');
  mkdirSync(path.join(directory, 'bosun'));
  writeFileSync(path.join(directory, 'bosun', 'config.yaml'), text);
  return directory;
}
