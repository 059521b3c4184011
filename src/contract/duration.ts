/** Times as people write them, such as 500ms, 30s, 10m or 2h. */
import { z } from 'zod';

const DURATION_MESSAGE = 'must be a duration such as 500ms, 30s, 10m or 2h';
export const Duration = z.string(DURATION_MESSAGE).regex(/^\d+(\.\d+)?(ms|s|m|h|d)$/, DURATION_MESSAGE);

/** Of zero time nothing can be done in it. */
const LONGER_MESSAGE = 'must be a duration above 0, such as 500ms, 30s, 10m or 2h';
export const Timeout = z
  .string(DURATION_MESSAGE)
  .regex(/^\d+(\.\d+)?(ms|s|m|h|d)$/, DURATION_MESSAGE)
  .regex(/[1-9]/, LONGER_MESSAGE);
