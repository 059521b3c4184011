/** What a hook before an attempt answers, held against what it may: nothing that is malformed counts as a yes. */
import { cutText } from '../base/cut-text.ts';
import { BosunError } from '../contract/errors.ts';
import type { HookAnswer } from '../contract/hook.ts';
import { parseJson } from '../base/parse-json.ts';

const VETO_CHARS_MAX = 2000;
const PROMPT_CHARS_MAX = 64 * 1024;
const VARIABLES_MAX = 100;
/** Of all of them together, with their names. */
const ENV_CHARS_MAX = 96 * 1024;
const SHAPE = 'answer with nothing, or with JSON such as {"env": {"NAME": "value"}, "prompt": "…"}';

/** What a command printed. */
export function answerFromText(printed: string): HookAnswer {
  const text = printed.trim();
  if (text === '') return {};
  const value = parseJson(text);
  if (value === undefined) throw wrong('is not JSON');
  return hookAnswer(value);
}

export function hookAnswer(value: unknown): HookAnswer {
  if (value === undefined || value === null || value === true) return {};
  if (value === false) return { veto: 'it said no' };
  if (typeof value !== 'object' || Array.isArray(value)) throw wrong('is not a map of fields');
  const { veto, env, prompt, ...others } = value as Record<string, unknown>;
  const [other] = Object.keys(others);
  if (other !== undefined) throw wrong(`has an unknown field ${JSON.stringify(other.slice(0, 100))}`);
  if (veto !== undefined && typeof veto !== 'string') throw wrong('has a "veto" that is not text');
  if (prompt !== undefined && typeof prompt !== 'string') throw wrong('has a "prompt" that is not text');
  if (prompt !== undefined && prompt.length > PROMPT_CHARS_MAX)
    throw wrong(`has a "prompt" of more than ${PROMPT_CHARS_MAX} characters`);
  if (prompt?.includes('\0')) throw wrong('has a NUL character in "prompt"');
  return {
    ...(veto !== undefined && { veto: shortVeto(veto) }),
    ...(env !== undefined && { env: variables(env) }),
    ...(prompt !== undefined && prompt !== '' && { prompt: prompt.toWellFormed() }),
  };
}

/** A journal keeps it, and people read it. */
export function shortVeto(text: string): string {
  const said = text.trim().toWellFormed();
  if (said === '') return 'it said no';
  return cutText(said, VETO_CHARS_MAX);
}

/** Values stand in no message. */
function variables(env: unknown): Record<string, string> {
  if (typeof env !== 'object' || env === null || Array.isArray(env))
    throw wrong('has an "env" that is not a map of variables');
  const entries = Object.entries(env);
  if (entries.length > VARIABLES_MAX) throw wrong(`has more than ${VARIABLES_MAX} variables in "env"`);
  let chars = 0;
  for (const [name, value] of entries) {
    const shown = JSON.stringify(name.slice(0, 100));
    if (!/^[A-Za-z_]\w*$/.test(name)) throw wrong(`has ${shown} in "env", which is not a variable's name`);
    if (name.startsWith('BOSUN_')) throw wrong(`has ${shown} in "env", which bosun sets itself`);
    if (typeof value !== 'string') throw wrong(`has ${shown} in "env", whose value is not text`);
    if (value.includes('\0')) throw wrong(`has ${shown} in "env", whose value has a NUL character in it`);
    chars += name.length + value.length;
  }
  if (chars > ENV_CHARS_MAX) throw wrong(`has more than ${ENV_CHARS_MAX} characters in "env"`);
  return Object.fromEntries(entries);
}

function wrong(what: string): BosunError {
  return new BosunError('usage', `its answer ${what}; ${SHAPE}`);
}
