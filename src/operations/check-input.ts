/** Holds what is handed in against the table of operations. It performs nothing. */
import { BosunError } from '../contract/errors.ts';
import { inputProblem, tellProblem } from '../contract/input-schema.ts';
import { OPERATIONS, type InputOf, type OperationName } from '../contract/operations.ts';

/** Throws `usage` where it is not as the table says. */
export function checkInput<Name extends OperationName>(name: Name, input: InputOf<Name>): InputOf<Name> {
  const problem = inputProblem(OPERATIONS[name].input, input);
  if (problem) throw new BosunError('usage', `${name}: ${tellProblem(problem)}`);
  return input;
}
