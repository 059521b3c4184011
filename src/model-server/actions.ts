/** What a script wants done, as calls of the tools that the request offers: every agent names its tools differently. */
import { shellQuoted } from '../base/shell-word.ts';
import type { AskedModel, OfferedTool } from './asked.ts';
import { fillRequired } from './fill-schema.ts';
import type { ScriptedAnswer } from './script.ts';
import { workingDirectory } from './working-directory.ts';

/** A call of a tool, still without its id. */
export interface ToolCall {
  name: string;
  namespace?: string;
  input: Record<string, unknown> | string;
}

const WRITERS = ['write', 'write_file', 'create_file', 'write_to_file'];
const EDITORS = ['edit', 'edit_file', 'replace', 'str_replace'];
const READERS = ['read', 'read_file', 'view', 'view_file'];
const SHELLS = ['bash', 'shell', 'exec_command', 'shell_command', 'run_shell_command', 'execute_command'];
const PATCHERS = ['apply_patch'];
/** Of codex, which reads a patch in a command itself. */
const PATCHING_SHELLS = ['exec_command', 'shell_command'];
const OUTPUTS = ['structuredoutput', 'structured_output'];

const PATHS = ['file_path', 'filePath', 'absolute_path', 'path', 'filename'];
const CONTENTS = ['content', 'contents', 'file_text', 'text'];
const COMMANDS = ['command', 'cmd'];
const OLDS = ['old_string', 'oldString', 'old_str', 'old_text'];
const PATCHES = ['patchText', 'input', 'patch'];
const NEWS = ['new_string', 'newString', 'new_str', 'new_text'];

/** The calls of an answer, in this order; undefined where no tool that is offered can do one of them. */
export function callsOf(answer: ScriptedAnswer, asked: AskedModel): ToolCall[] | undefined {
  const { write, edit, read, run, output, tools = [] } = answer;
  const calls = [
    ...(write === undefined ? [] : [writeCall(write, asked)]),
    ...(edit === undefined ? [] : [editCall(edit, asked)]),
    ...(read === undefined ? [] : [readCall(read, asked)]),
    ...(run === undefined ? [] : [runCall(run, asked.tools)]),
    ...tools.map(({ name, input }) => namedCall(name, input, asked.tools)),
    ...(output === undefined ? [] : outputCall(output, asked.tools)),
  ];
  return calls.includes(undefined) ? undefined : (calls as ToolCall[]);
}

type Write = NonNullable<ScriptedAnswer['write']>;
type Edit = NonNullable<ScriptedAnswer['edit']>;

function writeCall({ path, content }: Write, asked: AskedModel): ToolCall | undefined {
  const tool = find(WRITERS, asked.tools);
  if (tool)
    return call(tool, [
      [PATHS, absolute(path, asked)],
      [CONTENTS, content],
    ]);
  // A patch always ends its last line: a file that must not is written by the shell.
  const lines = content.split('\n').slice(0, -1);
  const added = [`*** Add File: ${path}`, ...lines.map((line) => `+${line}`)];
  const patched = content.endsWith('\n') ? patch(added, asked.tools) : undefined;
  return patched ?? runCall(writeCommand(path, content), asked.tools);
}

function writeCommand(path: string, content: string): string {
  const slash = path.lastIndexOf('/');
  const parent = slash > 0 ? `mkdir -p ${shellQuoted(path.slice(0, slash))} && ` : '';
  return `${parent}printf %s ${shellQuoted(content)} > ${shellQuoted(path)}`;
}

function editCall(edit: Edit, asked: AskedModel): ToolCall | undefined {
  const tool = find(EDITORS, asked.tools);
  if (tool)
    return call(tool, [
      [PATHS, absolute(edit.path, asked)],
      [OLDS, edit.old],
      [NEWS, edit.new],
    ]);
  const before = edit.old.split('\n').map((line) => `-${line}`);
  const after = edit.new.split('\n').map((line) => `+${line}`);
  return patch([`*** Update File: ${edit.path}`, '@@', ...before, ...after], asked.tools);
}

function readCall(path: string, asked: AskedModel): ToolCall | undefined {
  const tool = find(READERS, asked.tools);
  if (tool) return call(tool, [[PATHS, absolute(path, asked)]]);
  return runCall(`cat ${shellQuoted(path)}`, asked.tools);
}

function runCall(command: string, tools: readonly OfferedTool[]): ToolCall | undefined {
  const tool = find(SHELLS, tools);
  if (!tool) return undefined;
  const field = COMMANDS.find((name) => name in (tool.schema?.properties ?? {}));
  const isList = field !== undefined && tool.schema?.properties?.[field]?.type === 'array';
  return call(tool, [[COMMANDS, isList ? ['sh', '-c', command] : command]]);
}

/** For the tool that takes patches, or for the shell whose agent takes a command of this form for one. */
function patch(lines: string[], tools: readonly OfferedTool[]): ToolCall | undefined {
  const text = ['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n');
  const tool = find(PATCHERS, tools);
  if (tool && tool.schema === undefined) return of(tool, text);
  if (tool) return call(tool, [[PATCHES, text]]);
  if (!find(PATCHING_SHELLS, tools)) return undefined;
  return runCall(`apply_patch <<'EOF'\n${text}EOF`, tools);
}

/** A tool of an MCP server may be named without what the agent puts before it. */
function namedCall(name: string, input: Record<string, unknown>, tools: readonly OfferedTool[]): ToolCall {
  const tool =
    tools.find((offered) => offered.name === name) ??
    find([name.toLowerCase()], tools) ??
    tools.find((offered) => offered.name.endsWith(`_${name}`));
  return tool ? of(tool, input) : { name, input };
}

/** None where the agent takes its text for the output. */
function outputCall(output: unknown, tools: readonly OfferedTool[]): ToolCall[] {
  const tool = find(OUTPUTS, tools);
  const isMap = typeof output === 'object' && output !== null && !Array.isArray(output);
  return tool && isMap ? [of(tool, output as Record<string, unknown>)] : [];
}

/** The first of the names that is offered, however it is spelled. */
function find(names: readonly string[], tools: readonly OfferedTool[]): OfferedTool | undefined {
  for (const name of names) {
    const tool = tools.find((offered) => offered.name.toLowerCase() === name);
    if (tool) return tool;
  }
  return undefined;
}

type Given = [fields: readonly string[], value: unknown];

function call(tool: OfferedTool, given: readonly Given[]): ToolCall {
  const properties = tool.schema?.properties ?? {};
  const input = Object.fromEntries(
    given.map(([names, value]) => [names.find((name) => name in properties) ?? names[0]!, value]),
  );
  return of(tool, fillRequired(tool.schema ?? {}, input));
}

function of({ name, namespace, program }: OfferedTool, input: ToolCall['input']): ToolCall {
  if (program !== undefined)
    return of(
      { name: program, schema: undefined, ...(namespace !== undefined && { namespace }) },
      source(name, input),
    );
  return { name, ...(namespace !== undefined && { namespace }), input };
}

/** A program for Codex's tool that takes JavaScript. */
function source(name: string, input: ToolCall['input']): string {
  return `text(await tools.${name}(${JSON.stringify(input)}));`;
}

function absolute(path: string, { messages }: AskedModel): string {
  if (path.startsWith('/')) return path;
  const directory = workingDirectory(messages);
  return directory === undefined ? path : `${directory.replace(/\/$/, '')}/${path}`;
}
