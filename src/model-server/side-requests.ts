/** Knows requests that agents make beside their work (titles, summaries): the script is not about those. */
import type { Asked } from './asked.ts';

/** What their system prompts say. */
const SIGNS = [
  /title generator|generate a (?:short |concise |brief )*title|(?:concise|brief|short)[^.\n]{0,40} title/i,
  /analyze if this message indicates a new conversation topic/i,
  /extract any file paths that this command reads or modifies/i,
];

/** No tools are offered, and its own words give it away. */
export function isSideRequest({ tools, messages }: Asked): boolean {
  if (tools.length > 0) return false;
  return messages.some(({ role, text }) => role !== 'assistant' && SIGNS.some((sign) => sign.test(text)));
}
