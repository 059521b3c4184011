/** Knows requests that agents make beside their work (titles, routing): the script is not about those. */
import type { AskedModel } from './asked.ts';

/** What their system prompts say. */
const SIGNS = [
  /title generator|generate a (?:short |concise |brief )*title|(?:concise|brief|short)[^.\n]{0,40} title/i, // claude, opencode
  /analyze if this message indicates a new conversation topic/i, // claude
  /extract any file paths that this command reads or modifies/i, // claude
  /Task Routing AI/, // gemini: which model to take
  /who should speak next|next_speaker/, // gemini
];

/** It offers no tools, and its own words give it away. A plain client offers none either, and is answered. */
export function isSideRequest({ tools, messages }: AskedModel): boolean {
  if (tools.length > 0) return false;
  return messages.some(({ role, text }) => role === 'system' && SIGNS.some((sign) => sign.test(text)));
}
