/** The script of a model server: what to answer, and when. One schema from which the type and the checks come. */
import { z } from 'zod';

const RULES_MAX = 10_000;

const DURATION_MESSAGE = 'must be a duration such as 500ms, 2s or 1m';
const Duration = z.string(DURATION_MESSAGE).regex(/^\d+(\.\d+)?(ms|s|m|h)$/, DURATION_MESSAGE);

/** Faults that are no status. After `slow` and `huge` the agent has its answer; after the others it has none. */
const FAULTS = [
  'hang', // no answer at all
  'cut-before', // the connection ends before the first byte
  'cut', // it ends in the middle
  'stall', // half of the answer, then silence
  'slow',
  'garbage', // bytes that are no answer
  'bad-json',
  'huge',
  'too-long', // the conversation is longer than the model takes, as its provider says that
] as const;

const FAULT_MESSAGE = `must be a status from 400 to 599, or one of ${FAULTS.join(', ')}`;
const Fault = z.union([z.int().min(400).max(599), z.enum(FAULTS)], FAULT_MESSAGE);

const Path = z.string().min(1).describe("Relative to the agent's working directory.");

const answer = {
  text: z.string().optional(),
  write: z.strictObject({ path: Path, content: z.string() }).optional(),
  edit: z.strictObject({ path: Path, old: z.string().min(1), new: z.string() }).optional(),
  read: Path.optional(),
  run: z.string().min(1).optional().describe('A shell command.'),
  output: z.json().optional().describe('Structured output, in the way the agent asks for it.'),
  tools: z
    .array(z.strictObject({ name: z.string().min(1), input: z.record(z.string(), z.json()).default({}) }))
    .optional()
    .describe('Calls of tools by name, as they are.'),
  usage: z
    .strictObject({
      input: z.int().nonnegative().optional(),
      output: z.int().nonnegative().optional(),
      cacheRead: z.int().nonnegative().optional(),
      cacheWrite: z.int().nonnegative().optional(),
    })
    .optional(),
  stop: z.enum(['end', 'tools', 'length', 'refusal']).optional(),
  delay: Duration.optional().describe('Before the first byte.'),
  'chunk-delay': Duration.optional().describe('Between the pieces of a stream.'),
  fault: Fault.optional(),
  'retry-after': Duration.optional(),
  times: z.int().positive().optional().describe('Holds this often, in all conversations together.'),
};

const ScriptedAnswer = z.strictObject(answer);
export type ScriptedAnswer = z.output<typeof ScriptedAnswer>;

const When = z.strictObject({
  dialect: z.enum(['anthropic', 'openai', 'gemini']).optional(),
  model: z.string().min(1).optional().describe('A glob such as claude-*.'),
  user: z.string().min(1).optional().describe('In the last thing that a person said.'),
  conversation: z.string().min(1).optional().describe('Anywhere in the conversation.'),
  turn: z.int().nonnegative().optional().describe('How many answers of the model it has so far.'),
  'tool-result': z.string().min(1).optional().describe('In what tools gave since the last answer.'),
});
export type When = z.output<typeof When>;

const Rule = z.strictObject({
  when: When.optional(),
  ...answer,
  answers: z.array(ScriptedAnswer).min(1).optional().describe('The nth for the nth turn of a conversation.'),
});

export const ModelScript = z
  .strictObject({
    rules: z.array(Rule).max(RULES_MAX).optional().describe('The first that holds answers.'),
    answers: z.array(ScriptedAnswer).min(1).optional().describe('What holds where no rule does.'),
  })
  .superRefine(({ rules = [] }, context) => {
    for (const [n, { when: _, answers, ...rest }] of rules.entries()) {
      const said = Object.keys(rest);
      const problem =
        answers === undefined
          ? said.some((key) => key !== 'times')
            ? undefined
            : 'a rule must say what to answer: add "text", "write", "run", "tools", "fault" or "answers"'
          : said.length > 0
            ? `a rule with "answers" cannot also have "${said[0]}"; put it into one of the answers`
            : undefined;
      if (problem !== undefined) context.addIssue({ code: 'custom', path: ['rules', n], message: problem });
    }
  });
export type ModelScript = z.output<typeof ModelScript>;
/** As it is written, by hand or in code. */
export type ModelScriptSource = z.input<typeof ModelScript>;
