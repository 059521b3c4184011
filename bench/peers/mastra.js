/**
 * Mastra with its LibSQL storage (a file; its store sets WAL and synchronous=NORMAL, so a power cut may lose
 * the last commits where the others lose none).
 *
 * The chain is `.then()` per step, the fan-out `.foreach()` at concurrency 8: the ways its guide gives for
 * both. A snapshot is stored after each step of a chain; the items of a `foreach` are not stored one by one (a
 * crash runs all of them again), which the other sides do: the comparison favours Mastra there.
 */
import { join } from 'node:path';
import { Mastra } from '@mastra/core';
import { createStep, createWorkflow } from '@mastra/core/workflows';
import { LibSQLStore } from '@mastra/libsql';
import { z } from 'zod';
import { CONCURRENCY, measure, step, timed } from './step.js';

await measure(async (directory) => {
  const storage = new LibSQLStore({ id: 'bench', url: `file:${join(directory, 'mastra.db')}` });
  await storage.init();

  const stepCalled = (id) =>
    createStep({ id, inputSchema: z.number(), outputSchema: z.number(), execute: () => step() });

  const chainOf = (count) => {
    let workflow = createWorkflow({
      id: `chain-${count}`,
      inputSchema: z.number(),
      outputSchema: z.number(),
    });
    for (let index = 0; index < count; index += 1) workflow = workflow.then(stepCalled(`step-${index}`));
    return workflow.commit();
  };
  const fanOutOf = (count) =>
    createWorkflow({
      id: `fan-out-${count}`,
      inputSchema: z.array(z.number()),
      outputSchema: z.array(z.number()),
    })
      .foreach(stepCalled('step'), { concurrency: CONCURRENCY })
      .commit();

  return async (shape, count) => {
    const workflow = shape === 'chain' ? chainOf(count) : fanOutOf(count);
    const mastra = new Mastra({ logger: false, storage, workflows: { [workflow.id]: workflow } });
    const run = await mastra.getWorkflow(workflow.id).createRun();
    return timed(async () => {
      const inputData = shape === 'chain' ? 0 : Array.from({ length: count }, (_, index) => index);
      const result = await run.start({ inputData });
      if (result.status !== 'success') throw new Error(`mastra: ${result.status}`, { cause: result.error });
    });
  };
});
