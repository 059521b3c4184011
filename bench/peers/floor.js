/** The floor: the same steps in a bare loop, nothing recorded anywhere. */
import { bounded, measure, step, timed } from './step.js';

await measure(
  () => (shape, count) =>
    timed(async () => {
      if (shape === 'fan-out') await bounded(count, step);
      else for (let index = 0; index < count; index += 1) await step();
    }),
);
