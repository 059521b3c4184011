/** The text of each template, with the agent and the test command filled in. It reads and writes nothing. */
import type { TemplateName } from '../../contract/templates.ts';
import { takesCommand, type RuntimeName } from '../../contract/runtimes.ts';

export interface Filling {
  /** Absent where no agent is installed; then only `hello` can be written. */
  agent: { runtime: RuntimeName; command?: string } | undefined;
  /** How the repository tests itself. */
  check: string | undefined;
  /** Directories that several agents can work on at once. */
  parts: readonly string[];
  /** Directories of dependencies that git does not have. */
  copy: readonly string[];
}

export function templateText(name: TemplateName, filling: Filling): string {
  return name === 'hello' ? hello(filling) : `${head(name, filling)}\n${BODIES[name](filling)}`;
}

/** Whatever it holds, it is one text of YAML; in a command nothing is an expression. */
function quoted(text: string): string {
  return /^[\w./ -]+$/.test(text) && text.trim() === text ? text : JSON.stringify(text);
}

function head(name: string, { agent, check, copy }: Filling): string {
  const isPriced = agent !== undefined && !takesCommand(agent.runtime);
  return [
    `# Check it with "bosun check", run it with "bosun run". All fields: docs/workflow-file.md`,
    `name: ${name}`,
    ...(isPriced ? ['budget: { usd: 5 } # at this point the run pauses and asks'] : []),
    ...(copy.length > 0 ? [`workspace: { copy: [${copy.join(', ')}] } # what git does not have`] : []),
    ...(check?.startsWith('python3 ')
      ? ["defaults: { task: { env: { PYTHONDONTWRITEBYTECODE: '1' } } } # leaves no __pycache__ behind"]
      : []),
    '',
  ].join('\n');
}

/** An entry of `agents`. */
function agentOf(name: string, { agent }: Filling, more: readonly string[] = []): string {
  const lines = [
    `runtime: ${agent!.runtime}`,
    ...(agent!.command === undefined ? [] : [`command: ${quoted(agent!.command)}`]),
    ...more,
  ];
  return `  ${name}:\n${lines.map((line) => `    ${line}`).join('\n')}\n`;
}

const READS_ONLY = ['scope: { write: [] } # looks, and changes nothing'];

function checkLines({ check }: Filling): string {
  return check === undefined
    ? '    # check: npm test # a command that must pass; what it prints goes back to the agent\n'
    : `    check: ${quoted(check)}\n    attempts: 3\n`;
}

const BODIES: Record<Exclude<TemplateName, 'hello'>, (filling: Filling) => string> = {
  'fix-tests': (filling) => `agents:
${agentOf('developer', filling)}
tasks:
  fix:
    agent: developer
    prompt: |
      The tests of this repository (${filling.check!}) should pass. Run them, find out why those that fail do,
      and fix the code. Change a test only where it is the test that is wrong, and say why.
${checkLines(filling)}`,

  'plan-build-review': (filling) => `inputs:
  goal: { required: true, description: What to build. }

agents:
${agentOf('planner', filling, READS_ONLY)}${agentOf('builder', filling)}${agentOf('reviewer', filling, READS_ONLY)}
tasks:
  plan:
    agent: planner
    prompt: |
      Read this repository and write a short plan for the following: which files to change, how, and what to test.
      Answer with the plan alone. The goal: \${{ inputs.goal }}

  build:
    needs: [plan]
    agent: builder
    prompt: |
      Build this, with tests: \${{ inputs.goal }}
      The plan: \${{ tasks.plan.output }}
${checkLines(filling)}
  review:
    needs: [build]
    agent: reviewer
    prompt: |
      Another agent was asked to build: \${{ inputs.goal }}
      Review what it did in this repository against that. List what is wrong or missing, worst first, each with its file.
`,

  'parallel-refactor': (filling) => `inputs:
  goal: { required: true, description: What to change everywhere. }

agents:
${agentOf('developer', filling)}
tasks:
  # One agent for each of these, some at the same time. None can change what belongs to another, and none what is not here.
  part:
    for-each:
${filling.parts.map((part) => `      - ${JSON.stringify(part)}`).join('\n')}
    agent: developer
    scope: { write: ["\${{ each }}/**"] }
    prompt: |
      Make this change in the directory \${{ each }}, and nowhere else: \${{ inputs.goal }}
      Other agents do the same in directories of their own: ${filling.parts.join(', ')}.
${
  filling.check === undefined
    ? ''
    : `
  # All of it together; what fails is fixed here.
  test:
    needs: [part]
    agent: developer
    prompt: |
      Several agents made this change, each in a directory of its own (${filling.parts.join(', ')}): \${{ inputs.goal }}
      Make it in the rest of this repository, and make the parts fit together, so that the tests (${filling.check}) pass.
${checkLines(filling)}`
}`,

  review: (filling) => `agents:
${agentOf('reviewer', filling, READS_ONLY)}
tasks:
  review:
    for-each: [correctness, security, readability]
    agent: reviewer
    on-failure: continue
    prompt: |
      Review the last commit of this repository (git show HEAD) for \${{ each }}, and for nothing else.
      List what you found, worst first, each with file and line, and what to do about it. If there is nothing, say so.

  summary:
    needs: [review]
    scope: { write: [REVIEW.md] }
    env: { SUMMARY: "\${{ tasks.review.result.summary }}" }
    run: |
      printf '# Review\\n\\n%s\\n' "$SUMMARY" > REVIEW.md
`,

  triage: (filling) => `inputs:
  issue: { required: true, description: What somebody reported. }

agents:
${agentOf('triager', filling, READS_ONLY)}${agentOf('developer', filling)}
tasks:
  sort:
    agent: triager
    prompt: |
      Somebody reported this about this repository. Find out whether it is a bug, a wish for something new, or a question,
      which files it is about, and what you would answer. The report: \${{ inputs.issue }}
    output:
      type: object
      properties:
        kind: { enum: [bug, feature, question] }
        files: { type: array, items: { type: string } }
        answer: { type: string }
      required: [kind, files, answer]
      additionalProperties: false

  fix:
    needs: [sort]
    if: \${{ tasks.sort.output.kind == 'bug' }}
    agent: developer
    prompt: |
      Fix this bug, and add a test that fails without the fix: \${{ inputs.issue }}
      What is known: \${{ tasks.sort.output.answer }}
${checkLines(filling)}`,
};

function hello({ agent, check }: Filling): string {
  const { runtime, command } = agent ?? { runtime: 'cli', command: 'my-agent' };
  return `# A workflow for bosun. Check it with "bosun check", run it with "bosun run".
name: hello

# Tasks start when what they need is done; these two run side by side, each in a workspace of its own.
tasks:
  notes:
    run: |
      echo "# Notes" > NOTES.md
      git log --oneline -5 >> NOTES.md

  count:
    run: git ls-files | wc -l > FILES.txt

  # Starts from what both of them did.
  summary:
    needs: [notes, count]
    run: |
      echo "" >> NOTES.md
      echo "$(cat FILES.txt) files" >> NOTES.md
    # Must pass before the work counts.
    check: grep -q files NOTES.md

# An agent is a program that gets a prompt and changes files. For workflows with agents: bosun init --list
#
# agents:
#   developer:
#     runtime: ${runtime}${command === undefined ? '' : `\n#     command: ${quoted(command)}`}
#
# tasks:
#   implement:
#     agent: developer
#     prompt: Fix the typos in README.md.
#     check: ${quoted(check ?? 'npm test')}
#     attempts: 3
`;
}
