/** The configuration file: what a person or a repository wants of every run. */
import { z } from 'zod';
import { IsolationDemand } from './workflow.ts';

export const Config = z.strictObject({
  isolation: IsolationDemand.optional(),
});

export type Config = z.output<typeof Config>;
