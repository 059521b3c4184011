/** `bosun model-server`: answers agents with what a script says, until it is ended. */
import { once } from 'node:events';
import type { LoggedRequest } from '../../../operations/model-server.ts';
import { spellControls, safeJson } from '../../../report/text/plain.ts';
import { ask, inputOf } from '../ask.ts';
import { isOn, type Typed } from '../command.ts';
import { writeError, writeOut } from '../output.ts';

export async function run(typed: Typed): Promise<number> {
  const isJson = isOn(typed, 'json');
  const input = inputOf('modelServer', typed, { file: typed.args[0]! });
  await using server = await ask('modelServer', input, {
    onRequest: (request) => writeOut(isJson ? `${safeJson(told(request))}\n` : lineOf(request)),
  });
  const variables = variablesOf(server.url);
  if (isJson) writeOut(`${safeJson({ url: server.url, env: variables })}\n`);
  else for (const [name, value] of Object.entries(variables)) writeOut(`${name}=${value}\n`);
  writeError('accepts any key; Ctrl-C stops it\n');
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM'), once(process, 'SIGHUP')]);
  return 0;
}

/** Which variables make agents ask here. */
function variablesOf(url: string): Record<string, string> {
  return {
    ANTHROPIC_BASE_URL: url,
    OPENAI_BASE_URL: `${url}/v1`,
    GOOGLE_GEMINI_BASE_URL: url,
  };
}

/** Without headers and body: they hold the agent's key and its whole conversation. */
function told(request: LoggedRequest): Omit<LoggedRequest, 'headers' | 'body'> {
  const { headers: _, body: __, ...rest } = request;
  return rest;
}

function lineOf({ n, method, path, model, turn, rule, status, fault }: LoggedRequest): string {
  const what = model === undefined ? '' : ` ${model} turn ${turn}`;
  const end = fault === undefined ? String(status) : `fault ${fault}`;
  return `${spellControls(`${n} ${method} ${path.split('?')[0]}${what}: ${rule}, ${end}`)}\n`;
}
