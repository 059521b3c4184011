/** Writes docs/events.md, the reference of all events and their fields, from the schemas and types in the contract. */
import { readFileSync, writeFileSync } from 'node:fs';
import { format } from 'prettier';
import { EVENT_SCHEMAS } from '../src/contract/event-schema.ts';
import { EVENT_FORMAT, type EventType } from '../src/contract/event.ts';
import type { Shape } from '../src/contract/shapes.ts';
import { DECISIONS, FACTS } from '../src/report/lines/event-sentences.ts';

export const PAGE = new URL('../docs/events.md', import.meta.url);
const TYPES = [
  'event.ts',
  'child.ts',
  'model.ts',
  'question.ts',
  'run.ts',
  'isolation.ts',
  'summary.ts',
  'access.ts',
  'services.ts',
];

/** What means the same wherever it is. */
const COMMON: Readonly<Record<string, string>> = {
  account: 'whose budget: `run`, `agent:NAME`, `task:ID`, `all:day` or such',
  answer: 'in words; null where nobody answered in time',
  artifacts: 'globs of files that are kept',
  attempt: 'which try at the task, from 1',
  base: 'the commit it starts from',
  because: 'why, for people',
  body: 'what it says',
  bodyRef: 'in place of `body`, where that is large',
  by: 'who: a person’s name, `program NAME`, or a part of bosun',
  cancels: 'its children that are cancelled',
  changedCount: 'how many files',
  child: 'the child',
  choices: 'what can be chosen, in place of yes and no',
  chosen: 'the labels, where several can be chosen',
  collected: 'the commit of what it left, and which files changed',
  commit: 'a commit of the engine’s own git directory',
  conflict: 'which files, and with whose work',
  continues: 'the attempt whose workspace and conversation it continues',
  default: 'what counts if nobody answers in time',
  delayMs: 'how long it waits',
  durationMs: 'how long it took',
  envRef: 'in place of `env`, where that is large',
  fallback: 'another runtime that takes over',
  feedback: 'what the next attempt is told',
  freeText: 'any text is an answer',
  from: 'commits that it starts from',
  globs: 'which files',
  id: 'its id, by which later events name it',
  inputs: 'by name',
  limit: 'what may be spent',
  mode: 'whether it may stop by itself',
  model: 'the model',
  name: 'its name',
  note: 'what was added to it',
  outcome: 'how it ended',
  output: 'what it gave',
  produced: 'what the tasks before an approval gave, for whoever decides',
  outputRef: 'in place of `output`, where that is large',
  owner: 'the task that owns them',
  owners: 'the tasks that own them',
  promptRef: 'in place of `prompt`, where that is large',
  provider: 'whose model',
  publications: 'what it starts from of tasks that are not done yet',
  session: 'the agent’s conversation that it continues',
  several: 'several can be chosen',
  spent: 'what was spent',
  stream: 'where it was printed; `check` and `setup` are commands of the workflow',
  task: 'the task’s id',
  tasks: 'ids of tasks',
  text: 'in words',
  timeoutMs: 'how long it waits at most',
  tokens: 'how many',
  tool: 'it is about a tool that the agent wants to use',
  unit: 'what is counted',
  until: 'ids of tasks',
  urgent: 'it is put into the conversation at once',
  usd: 'dollars; null where nobody knows the price',
  value: 'what was published',
  valueRef: 'in place of `value`, where that is large',
  version: '1, 2, …: of this name, whoever publishes it',
  why: 'why',
  workflow: 'all of it, checked, with its defaults filled in',
};

/** Where a field means something else than elsewhere, or is in one event alone. */
const OWN: Readonly<Record<string, string>> = {
  'run.created dirty': 'whether the commit has changes that were not committed',
  'run.created overBudget': 'what a spent budget means: requests go on, with a warning',
  'run.isolation kind': 'how commands are held',
  'run.isolation uid': 'the user that agents run as',
  'run.isolation limits': 'what holds each limit',
  'run.isolation lacks': 'why commands are not fenced',
  'run.isolation notes': 'what a person should know',
  'attempt.workspace workspace': 'its directory',
  'attempt.output text': 'what was printed',
  'attempt.output base64': 'the same, where it is not UTF-8',
  'attempt.output droppedBytes': 'how much was left out',
  'attempt.agent event': 'what it said or did',
  'attempt.progress percent': 'from 0 to 100, if it is known',
  'model.used ownLogin': 'paid for by the agent’s own login',
  'model.used replayed': 'it came from a cassette, and cost nothing',
  'model.used estimated': 'its provider did not say what it used',
  'run.landed kind': 'what the merge made of its commits',
  'run.landed from': 'the commit that the branch was at',
  'run.landed to': 'the commit that the branch is at',
  'run.landed branch': 'the user’s branch; absent on a detached HEAD',
  'run.landed head': 'the head of the run’s branch, all of which was merged',
  'run.unlanded from': 'the commit that the branch is at again',
  'run.unlanded to': 'the commit that the merge had left it at',
  'run.unlanded branch': 'the user’s branch; absent on a detached HEAD',
  'clock.jumped ms': 'how far',
  'attempt.asked budget': 'the budget that is spent; a yes raises it',
  'attempt.held by': 'what it waits for',
  'budget.warned next': 'the most that the next request can cost, where that does not fit',
  'budget.set limits': 'the new ones',
  'message.sent publication': 'what was published, where it says that',
  'message.read ids': 'which messages',
  'message.read acknowledged': 'which it acknowledges',
  'message.delivered to': 'ids of tasks',
  'wait.began for': 'what for',
  'attempt.steered steers': 'which of them: the first that was sent to the task is 1',
  'wait.circled waits': 'which',
  'child.requested key': 'what they call it',
  'access.requested patchRef': 'in place of `patch`, where that is large',
  'attempt.finished storyRef': 'in place of `story`, where that is large',
  'task.summarizing agent': 'who sums it up',
  'task.summarizing texts': 'which, and in which task within',
  'attempt.hooked hook': 'which',
  'attempt.hooked veto': 'why the attempt does not start',
  'attempt.hooked env': 'names of variables that it adds; their values are in no journal',
  'attempt.hooked prompt': 'what it adds to the prompt',
  'hook.failed hook': 'which',
  'hook.failed moment': 'what it was called for',
  'hook.failed about': 'a task or a question',
  'hook.failed seq': 'of the event that a webhook was to be told of',
  'hooks.armed webhooks': 'which, and at which moments',
  'hooks.armed sealed':
    'a seal of the user whose bosun wrote it; without, they are never sent what they were not told',
  'hook.told hook': 'which',
  'hook.told moment': 'what it was called for',
  'hook.told seq': 'of the event that it was told of',
  'attempt.denied host': 'where to',
  'attempt.denied port': 'its port',
  'service.announced port': 'of the sandbox’s own loopback',
  'attempt.started purpose': 'whether it works, or resolves a conflict',
  'attempt.started prompt': 'as the agent gets it; of a `run`, the command',
  'attempt.pausing how': 'it stops, waits at its next request, or runs to its end',
  'task.again place': 'where it waits for its turn',
  'task.expanded kind': 'why',
  'task.handed at': 'a position in `handoff`, from 0',
  'task.handed agent': 'the name at that position',
  'task.picked candidate': 'the task within it',
  'run.reopened tasks': 'which, and what they continue',
  'run.finished state': 'how',
  'run.finished because': 'it stopped because its budget is spent',
  'task.steered text': 'the message',
};

/** Fields of which nobody says what they mean. */
const missing: string[] = [];

export async function eventsPage(): Promise<string> {
  const text = `# Events

<!-- Made by scripts/events.ts: change that, or src/contract/event.ts. -->

Everything that happens in a run is an event in its journal, in the order in which it happened. This is what \`bosun run --json\`, \`bosun logs --json\` and the library's \`events()\` give: one object for each, with \`run\`, \`seq\` (1, 2, 3, … within the run), \`atMs\` (milliseconds since 1970) and \`event\`, which has a \`type\` and the fields below. An event that an earlier version wrote also has its \`format\`; this version writes format ${EVENT_FORMAT}.

Later versions may add events and fields: skip those that you don't know. A field with \`?\` may be absent. A value that is too large for an event is left out, and a \`…Ref\` beside it has the hash and the size of its JSON; the library's \`output()\` reads those of tasks.

## Facts

What the world did: agents, people, commands, providers.

${Object.entries(FACTS).map(section).join('\n')}

## Decisions

What follows from the facts. Each is carried out once it is in the journal.

${Object.entries(DECISIONS).map(section).join('\n')}
`;
  if (missing.length > 0) throw new Error(`nobody says what these mean: ${missing.join(', ')}`);
  return format(text, { parser: 'markdown', printWidth: 110 });
}

function section([type, sentence]: [string, string]): string {
  const shape = EVENT_SCHEMAS[type as EventType]();
  const fields = Object.entries(shape.fields as Record<string, Shape<unknown>>).filter(
    ([name]) => name !== 'type',
  );
  const rows = fields.map(([name, field]) => {
    const shown = `\`${name}${'isOptional' in field ? '?' : ''}\``;
    const key = `${type} ${name}`;
    const meaning = OWN[key] ?? comments.get(key) ?? COMMON[name];
    if (meaning === undefined) missing.push(key);
    return `| ${shown} | ${cell(`\`${field.words}\``)} | ${cell(meaning ?? '')} |`;
  });
  const table = rows.length > 0 ? ['| field | value | meaning |', '| --- | --- | --- |', ...rows, ''] : [];
  return [`### ${type}`, '', sentence, '', ...table].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', String.raw`\|`).replaceAll('\n', ' ');
}

/** What the comment above a field of an event says, by type and field. */
const comments = new Map<string, string>();
for (const file of TYPES) {
  const lines = readFileSync(new URL(`../src/contract/${file}`, import.meta.url), 'utf8').split('\n');
  let type = '';
  let comment = '';
  for (const line of lines) {
    type = /^\s+type: '([\w.]+)';$/.exec(line)?.[1] ?? (/^ {4}\}/.test(line) ? '' : type);
    const said = /^\s+\/\*\* (.*?)\.? \*\/$/.exec(line)?.[1];
    const field = /^\s+(\w+)\??: /.exec(line)?.[1];
    if (said !== undefined) comment = said.charAt(0).toLowerCase() + said.slice(1);
    else {
      if (field !== undefined && type !== '' && comment !== '') comments.set(`${type} ${field}`, comment);
      comment = '';
    }
  }
}

if (import.meta.main) writeFileSync(PAGE, await eventsPage());
