/**
 * `npm run bench [name…]`: runs the named benches, or all, and prints one JSON line per figure. A goal that is
 * missed is data; only a bench that cannot be run makes the exit code 1.
 */
import { progress, type Bench } from './measure.ts';
import { openPath } from './open-path.ts';
import { removeScratch } from './scratch.ts';

const BENCHES: Record<string, () => Promise<{ bench: Bench }>> = {
  tasks: () => import('./tasks.ts'),
  scale: () => import('./scale.ts'),
  workspace: () => import('./workspace.ts'),
  start: () => import('./start.ts'),
  resume: () => import('./resume.ts'),
  many: () => import('./many.ts'),
  fences: () => import('./fences.ts'),
  cancel: () => import('./cancel.ts'),
  crew: () => import('./crew.ts'),
  grant: () => import('./grant.ts'),
  gateway: () => import('./gateway.ts'),
  agents: () => import('./agents.ts'),
  mcp: () => import('./mcp.ts'),
  http: () => import('./http.ts'),
  web: () => import('./web.ts'),
  memory: () => import('./memory.ts'),
  peers: () => import('./peers.ts'),
};

openPath();
const names = process.argv.slice(2);
const unknown = names.filter((name) => !(name in BENCHES));
if (unknown.length > 0) {
  process.stderr.write(
    `no bench is called ${unknown.join(', ')}; there are ${Object.keys(BENCHES).join(', ')}\n`,
  );
  process.exit(2);
}

for (const name of names.length > 0 ? names : Object.keys(BENCHES)) {
  try {
    const { bench } = await BENCHES[name]!();
    progress(`${bench.name}: ${bench.about}`);
    for await (const figure of bench.figures()) process.stdout.write(`${JSON.stringify(figure)}\n`);
  } catch (error) {
    progress(`${name} broke: ${error instanceof Error ? error.stack : String(error)}`);
    process.exitCode = 1;
  }
}
removeScratch();
