/** The words for people that name the item of a `for-each`. They are no template: nothing else is filled in. Pure. */
import type { Json } from '../../contract/workflow.ts';
import type { Node } from '../state.ts';

export function withItem(text: string, { each }: Node, shown: (item: Json) => string): string {
  return each ? text.replace(/\$\{\{\s*each\s*\}\}/g, () => shown(each.value)) : text;
}
