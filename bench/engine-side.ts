/**
 * An engine as a process of its own that runs many agents at once: `node bench/engine-side.ts REPOSITORY URL COUNT`.
 * Prints how many have been given their prompts, once all of them have.
 */
import path from 'node:path';
import { Bosun, workflow } from '../src/index.ts';

const [repo, url, count] = process.argv.slice(2) as [string, string, string];
process.env.ANTHROPIC_BASE_URL = url;
process.env.ANTHROPIC_API_KEY = 'sk-bench-0123456789';
process.env.BOSUN_AGENTS = count; // more than a machine is given by itself
const program = path.join(import.meta.dirname, 'small-agent.mjs');

const begun = new Set<string>();
const live = await new Bosun(repo).run(
  workflow({
    name: 'many',
    concurrency: Number(count),
    tasks: {
      many: {
        'for-each': Array.from({ length: Number(count) }, (_, n) => n),
        agent: { runtime: 'acp', command: [process.execPath, program], scope: { read: [program] } },
        prompt: 'Say something.',
      },
    },
  }),
  {
    trust: true,
    seen(events) {
      for (const { event } of events) {
        if (event.type !== 'attempt.agent' || event.event.kind !== 'started' || begun.has(event.task))
          continue;
        begun.add(event.task);
        if (begun.size === Number(count)) process.stdout.write(`${begun.size}\n`);
      }
    },
  },
);
process.stdin.resume().once('end', () => live.cancel('now'));
await live.finished;
process.exit(0);
