/** Takes the output that an agent gives before its end: checked at once, and accepted once it is in the journal. */
import { awakeMs } from '../base/awake.ts';
import { parseJson } from '../base/parse-json.ts';
import { BosunError } from '../contract/errors.ts';
import type { JsonSchema } from '../contract/model.ts';
import type { Json } from '../contract/workflow.ts';
import type { CrewTools } from '../crew/tools.ts';
import { outputProblem } from '../runtime/output/structured-output.ts';

/** Of one attempt. */
const OUTPUTS_MAX = 100;
/** Of all checks of an attempt: those of others wait for a slow one. */
const CHECKS_SECONDS_MAX = 10;

export class DoneOutput {
  readonly #schema: JsonSchema | undefined;
  readonly #record: (output: Json) => Promise<void>;
  #count = 0;
  #checkedMs = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(schema: JsonSchema | undefined, record: (output: Json) => Promise<void>) {
    this.#schema = schema;
    this.#record = record;
  }

  /** One after another: no attempt has more than one check under way. */
  give: CrewTools['done'] = (input) => {
    const given = this.#last.then(() => this.#give(input));
    this.#last = given.catch(() => {});
    return given;
  };

  async #give({ output }: Parameters<CrewTools['done']>[0]): ReturnType<CrewTools['done']> {
    const problem = await this.#problemOf(output);
    if (problem === undefined) return this.#take(output);
    // Some models write JSON as text.
    const meant = typeof output === 'string' ? parseJson(output) : undefined;
    if (meant !== undefined && (await this.#problemOf(meant)) === undefined) return this.#take(meant);
    return { accepted: false, why: problem };
  }

  async #take(output: Json): Promise<{ accepted: true }> {
    if (++this.#count > OUTPUTS_MAX)
      throw new BosunError('busy', `you have given ${OUTPUTS_MAX} outputs: that is the limit`);
    await this.#record(output);
    return { accepted: true };
  }

  async #problemOf(output: Json): Promise<string | undefined> {
    if (!this.#schema) return undefined;
    if (this.#checkedMs > CHECKS_SECONDS_MAX * 1000)
      return `checking your outputs took more than ${CHECKS_SECONDS_MAX} seconds in all; give it at the end of your work`;
    const beganMs = awakeMs();
    try {
      return await outputProblem(this.#schema, output);
    } finally {
      this.#checkedMs += awakeMs() - beganMs;
    }
  }
}
