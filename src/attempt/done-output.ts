/** The output that an agent gives before its end: checked at once, the last one that fits counts. */
import { parseJson } from '../base/parse-json.ts';
import type { JsonSchema } from '../contract/model.ts';
import type { Json } from '../contract/workflow.ts';
import type { CrewTools } from '../crew/tools.ts';
import { outputProblem } from '../runtime/output/structured-output.ts';

export class DoneOutput {
  readonly #schema: JsonSchema | undefined;
  /** Undefined as long as there is none. */
  value: Json | undefined;

  constructor(schema: JsonSchema | undefined) {
    this.#schema = schema;
  }

  give: CrewTools['done'] = async ({ output }) => {
    const problem = await this.#problemOf(output);
    if (problem === undefined) return this.#take(output);
    // Some models write JSON as text.
    const meant = typeof output === 'string' ? parseJson(output) : undefined;
    if (meant !== undefined && (await this.#problemOf(meant)) === undefined) return this.#take(meant);
    return { accepted: false, why: problem };
  };

  #take(output: Json): { accepted: true } {
    this.value = output;
    return { accepted: true };
  }

  async #problemOf(output: Json): Promise<string | undefined> {
    return this.#schema && outputProblem(this.#schema, output);
  }
}
