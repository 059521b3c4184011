/**
 * What a sandboxed start costs: the engine's launcher, with a launch that the engine itself made for an agent with a
 * write scope (a layer, a fence, sockets, limits), against a line written by hand with the very same mounts. From
 * the start to the end of `true` and of its output; one alone, and 100 at once. The directories are there before.
 *
 * The hand-written line has one process to do after the other (setpriv, unshare, sh, mount, bwrap), which our
 * launcher does in one. It sets no limits and watches nothing; ours does both.
 */
import { chmodSync, mkdtempSync } from 'node:fs';
import path from 'node:path';
import { findHome } from '../src/store/home.ts';
import { launchOf, placed, type FencedLaunch } from './fenced.ts';
import { handWrittenLine, launchLine, lineMs } from './launch-line.ts';
import { atMost, forScale, interleave, roundsOr, timed, type Bench, type Figure } from './measure.ts';
import { makeRepository } from './repository.ts';
import { runToEnd } from './run-to-end.ts';

const FILES = 100;
const ROUNDS = 51;
const CROWD = 100;
const CROWD_ROUNDS = 9;
const RATIO_MAX = 1.3;

export const bench: Bench = {
  name: 'fences',
  about: `a sandboxed start, alone and ${CROWD} at once, against a hand-written bwrap line with the same mounts`,
  async *figures(): AsyncIterable<Figure> {
    const repo = await makeRepository(FILES);
    const { launcher, launch } = await launchOf(repo, {
      name: 'fences',
      tasks: { task: { agent: AGENT, prompt: 'nothing' } },
    });
    const one = { ...launch, argv: ['true'] };
    const { layers } = findHome(repo)!;
    const sides: Record<'bosun' | 'hand' | 'line', (what: FencedLaunch) => Promise<unknown>> = {
      bosun: (what) => runToEnd(launcher, what),
      hand: (what) => lineMs(handWrittenLine(what)),
      line: (what) => lineMs(launchLine(what)),
    };
    const atOnce = (side: (what: FencedLaunch) => Promise<unknown>, count: number) => (): Promise<number> => {
      // Beside the base, as workspaces are: the launcher names both from the directory above them.
      const directory = mkdtempSync(path.join(layers, 'bench-'));
      chmodSync(directory, 0o755);
      const all = Array.from({ length: count }, (_, n) => placed(one, path.join(directory, String(n))));
      return timed(() => Promise.all(all.map(side)));
    };
    for (const [name, count, rounds] of [
      ['a sandboxed start', 1, ROUNDS],
      [`${CROWD} sandboxed starts at once`, CROWD, CROWD_ROUNDS],
    ] as const) {
      for (const side of Object.values(sides)) await atOnce(side, 1)();
      const taken = await interleave(name, roundsOr(rounds), {
        bosun: atOnce(sides.bosun, count),
        hand: atOnce(sides.hand, count),
        line: atOnce(sides.line, count),
      });
      yield atMost(RATIO_MAX, { name, value: taken.bosun, baseline: taken.hand });
      yield forScale({ name: `${name}: our own line, bare`, value: taken.bosun, baseline: taken.line });
    }
  },
};

/** As agents usually are: some directories of the repository are its own, one more can be had. */
const AGENT = {
  runtime: 'cli' as const,
  command: 'true',
  scope: { write: ['src/part-0/**'], grant: ['src/part-1/**'] },
};
