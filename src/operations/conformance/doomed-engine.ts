/** A program: an engine that starts one run, to be killed in the middle of it. What to run comes on stdin. */
import { text } from 'node:stream/consumers';
import { startRun } from '../run.ts';
import type { Doomed } from './trial.ts';

const doomed = JSON.parse(await text(process.stdin)) as Doomed;
const live = await startRun({ ...doomed, source: 'conformance', trust: true });
await live.finished;
