/** How much memory the engine takes while 100 agents are at work, each in the middle of a model's answer. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { startProgram } from './command.ts';
import { atMost, progress, type Bench, type Figure } from './measure.ts';
import { residentMb } from './processor.ts';
import { makeRepository } from './repository.ts';
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
    const repo = await makeRepository(100);
    process.env.XDG_CONFIG_HOME = configOf(`providers: { anthropic: { concurrency: ${AGENTS} } }`);
    const engine = await startProgram('engine-side.ts', repo, model.said, String(AGENTS));
    // It says how many are at work once they all are, and goes on until we end it.
    progress(`${engine.said} agents at work`);
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

/** All of them are to be answered at once. */
function configOf(text: string): string {
  const directory = scratch('config');
  mkdirSync(path.join(directory, 'bosun'));
  writeFileSync(path.join(directory, 'bosun', 'config.yaml'), text);
  return directory;
}
