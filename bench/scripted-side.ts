/** The scripted model server as a process of its own: `node bench/scripted-side.ts SCRIPT`; prints its address. */
import { readFileSync } from 'node:fs';
import { startModelServer } from '../src/model-server/server.ts';

const script = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as Parameters<
  typeof startModelServer
>[0]['script'];
await using server = await startModelServer({ script });
process.stdout.write(`${server.url}\n`);
// It ends with whoever started it.
await new Promise((resolve) => process.stdin.resume().once('end', resolve));
