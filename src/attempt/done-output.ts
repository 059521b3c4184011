/** Takes the output that an agent gives before its end: checked at once, and accepted once it is in the journal. */
import { parseJson } from '../base/parse-json.ts';
import { BosunError } from '../contract/errors.ts';
import type { JsonSchema } from '../contract/model.ts';
import type { Json } from '../contract/workflow.ts';
import type { CrewTools } from '../crew/tools.ts';
import { outputProblem } from '../runtime/output/structured-output.ts';

/** Of one attempt. */
const OUTPUTS_MAX = 100;

export class DoneOutput {
  readonly #schema: JsonSchema | undefined;
  readonly #record: (output: Json) => Promise<void>;
  #count = 0;

  constructor(schema: JsonSchema | undefined, record: (output: Json) => Promise<void>) {
    this.#schema = schema;
    this.#record = record;
  }

  give: CrewTools['done'] = async ({ output }) => {
    const problem = await this.#problemOf(output);
    if (problem === undefined) return this.#take(output);
    // Some models write JSON as text.
    const meant = typeof output === 'string' ? parseJson(output) : undefined;
    if (meant !== undefined && (await this.#problemOf(meant)) === undefined) return this.#take(meant);
    return { accepted: false, why: problem };
  };

  async #take(output: Json): Promise<{ accepted: true }> {
    if (++this.#count > OUTPUTS_MAX)
      throw new BosunError('busy', `you have given ${OUTPUTS_MAX} outputs, which is all you may`);
    await this.#record(output);
    return { accepted: true };
  }

  async #problemOf(output: Json): Promise<string | undefined> {
    return this.#schema && outputProblem(this.#schema, output);
  }
}
