/** Refuses NUL characters: no command, variable, file name or prompt can hold one, so it would fail far from here. */
import type { Workflow } from '../../contract/workflow.ts';
import type { Path, Problem } from '../source/problem.ts';

const MESSAGE = 'this holds a NUL character, which no command, variable or file name can hold; remove it';

/** Of the workflow alone: those that it uses are checked on their own. */
export function checkNul(workflow: Workflow): Problem[] {
  const problems: Problem[] = [];
  const look = (value: unknown, path: Path): void => {
    if (typeof value === 'string') {
      if (value.includes('\0')) problems.push({ path, message: MESSAGE });
    } else if (Array.isArray(value)) value.forEach((item, n) => look(item, [...path, n]));
    else if (typeof value === 'object' && value !== null) {
      for (const [key, item] of Object.entries(value)) {
        if (key.includes('\0')) problems.push({ path: [...path, key], atKey: true, message: MESSAGE });
        else look(item, [...path, key]);
      }
    }
  };
  for (const [key, value] of Object.entries(workflow)) if (key !== 'nested') look(value, [key]);
  return problems;
}
