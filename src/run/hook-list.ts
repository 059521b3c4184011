/**
 * Which hooks there are, in their order: those of the user's configuration, those of the workflow (the outer one first),
 * those of the program. It calls none of them.
 */
import { cutText } from '../base/cut-text.ts';
import path from 'node:path';
import { parseDurationMs } from '../base/units.ts';
import { shellWord } from '../base/shell-word.ts';
import type { ConfigFile } from '../contract/config.ts';
import { BosunError } from '../contract/errors.ts';
import { HOOK_MOMENTS, NOTICE_MOMENTS, type HookInput } from '../contract/hook.ts';
import type { Notification, UserHook, WorkflowHook } from '../contract/hook-config.ts';
import type { KeySource } from '../contract/key-source.ts';
import type { Workflow } from '../contract/workflow.ts';
import { ProviderKey } from '../gateway/keys/keys.ts';
import { askCommand, tellCommand, type HookCommand } from '../hooks/command-hook.ts';
import { callFunction } from '../hooks/function-hook.ts';
import type { Hook, TellUntil } from '../hooks/hook.ts';
import { tellDesktop, tellNtfy, tellSlack, type Notice } from '../hooks/notification.ts';
import { tellWebhook } from '../hooks/webhook.ts';
import { BareLauncher } from '../sandbox/none.ts';
import type { ProgramHook } from './program-hooks.ts';
import { noticeOf } from './notice.ts';

const TIMEOUT_MS = 30_000;
/** Of all tries of a webhook together, with the waits between them. */
const WEBHOOK_MS = 180_000;
const WHAT_CHARS_MAX = 1000;
/** What any program needs, and what one needs to reach the user's desktop: no key is among them. */
const VARIABLES =
  'PATH HOME USER LOGNAME LANG LC_ALL TZ SHELL TMPDIR XDG_RUNTIME_DIR DBUS_SESSION_BUS_ADDRESS DISPLAY WAYLAND_DISPLAY';

/** Where hooks find themselves. */
export interface HookPlace {
  /** Commands start there. */
  top: string;
  /** The engine's own. */
  env: NodeJS.ProcessEnv;
}

export function userHooks(configs: readonly ConfigFile[], place: HookPlace): Hook[] {
  return configs
    .filter(({ isUsers }) => isUsers)
    .flatMap(({ file, config: { hooks = [], notify = [] } }) => [
      ...hooks.map((written, n) => userHook(written, named(written, 'hook', n, file), place)),
      ...notify.map((written, n) => notification(written, { name: `notify ${n + 1}`, from: file }, place)),
    ]);
}

/** `from` is the file, as messages call it. */
export function workflowHooks({ hooks = [] }: Workflow, from: string, place: HookPlace): Hook[] {
  return hooks.map((written, n) => commandHook(written, named(written, 'hook', n, from), place));
}

export function programHook({ id, moment, call, name, timeoutMs }: ProgramHook): Hook {
  const on = (Object.keys(HOOK_MOMENTS) as HookInput['type'][]).filter((at) => HOOK_MOMENTS[at] === moment);
  return {
    name: name ?? id,
    from: 'program',
    what: 'a function',
    on,
    timeoutMs: timeoutMs ?? TIMEOUT_MS,
    isApart: false,
    isMadeUpFor: false,
    ask: (input, signal) => callFunction(call, input, signal),
    tell: async (input, { signal }) => void (await callFunction(call, input, signal)),
  };
}

/** The environment of commands. */
function hookEnvironment(env: NodeJS.ProcessEnv): Record<string, string> {
  const entries = VARIABLES.split(' ').flatMap((name) =>
    env[name] === undefined ? [] : [[name, env[name]]],
  );
  return { ...(Object.fromEntries(entries) as Record<string, string>), TERM: 'dumb' };
}

type Named = Pick<Hook, 'name' | 'from'>;

function named({ name }: { name?: string | undefined }, kind: string, n: number, from: string): Named {
  return { name: name ?? `${kind} ${n + 1} of ${path.basename(from)}`, from };
}

function userHook(written: UserHook, names: Named, place: HookPlace): Hook {
  const { command, url, secret, ...rest } = written;
  if (command !== undefined) return commandHook({ ...rest, command }, names, place);
  const { env } = place;
  const key = secretOf(secret, env);
  return {
    ...names,
    what: `POST to ${originOf(url!)}${key ? ', signed' : ''}`,
    on: [rest.on].flat(),
    timeoutMs: timeoutOf(rest, WEBHOOK_MS),
    isApart: true,
    isMadeUpFor: true,
    tell: (input, until, id) => tellWebhook({ url: url!, secret: key, env }, input, until, id),
  };
}

function commandHook(written: WorkflowHook, names: Named, place: HookPlace): Hook {
  const command = commandIn(written.command, place);
  return {
    ...names,
    what: spell(written.command),
    on: [written.on].flat(),
    timeoutMs: timeoutOf(written, TIMEOUT_MS),
    isApart: false,
    isMadeUpFor: false,
    ask: (input, signal) => askCommand(command, input, signal),
    tell: (input, until) => tellCommand(command, input, until),
  };
}

function notification(written: Notification, { name, from }: Named, place: HookPlace): Hook {
  const { on = ['ended', 'needs-person'] } = written;
  const { what, tell } = wayOf(written, place);
  return {
    name: `${name} of ${path.basename(from)}`,
    from,
    what,
    on: [on].flat().map((moment) => NOTICE_MOMENTS[moment]),
    timeoutMs: written.command === undefined ? WEBHOOK_MS : TIMEOUT_MS,
    isApart: true,
    isMadeUpFor: false,
    async tell(input, until) {
      if (input.type === 'question' || input.type === 'run-ended') await tell(noticeOf(input), input, until);
    },
  };
}

interface Way {
  what: string;
  tell(notice: Notice, input: HookInput, until: TellUntil): Promise<void>;
}

function wayOf({ desktop, command, slack, ntfy, token }: Notification, place: HookPlace): Way {
  const { env } = place;
  if (desktop)
    return {
      what: 'a notification on the desktop',
      tell: (notice, _, until) => tellDesktop(commandIn([], place), notice, until),
    };
  if (command !== undefined)
    return {
      what: spell(command),
      tell: ({ title, text }, input, until) =>
        tellCommand(commandIn(command, place), { ...input, title, summary: text }, until),
    };
  if (slack !== undefined) {
    const read = typeof slack === 'string' ? undefined : secretOf(slack, env);
    const address = async (): Promise<string> => (read ? checkedAddress(await read()) : (slack as string));
    return {
      what: typeof slack === 'string' ? `a message to ${originOf(slack)}` : 'a message to Slack',
      tell: (notice, _, until) => tellSlack({ address, env }, notice, until),
    };
  }
  const key = secretOf(token, env);
  return {
    what: `a message to ${originOf(ntfy!)}`,
    tell: (notice, _, until) => tellNtfy({ address: () => ntfy!, env, token: key }, notice, until),
  };
}

function commandIn(command: WorkflowHook['command'], { top, env }: HookPlace): HookCommand {
  return { command, cwd: top, env: hookEnvironment(env), launcher: new BareLauncher() };
}

function timeoutOf({ timeout }: Pick<WorkflowHook, 'timeout'>, otherwise: number): number {
  return timeout === undefined ? otherwise : parseDurationMs(timeout);
}

/** In memory alone, and in no message. */
function secretOf(
  source: KeySource | undefined,
  env: NodeJS.ProcessEnv,
): (() => Promise<string>) | undefined {
  if (source === undefined) return undefined;
  const key = new ProviderKey(source, 'bearer', { env });
  return () => key.read();
}

/** It came from a variable or a file. */
function checkedAddress(text: string): string {
  const url = URL.parse(text);
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return text;
  throw new BosunError('usage', 'the address that was found for it is not an http or https address');
}

/** What follows the host may be all that keeps strangers out. */
function originOf(url: string): string {
  return new URL(url).origin;
}

function spell(command: WorkflowHook['command']): string {
  const text = typeof command === 'string' ? command : command.map(shellWord).join(' ');
  return cutText(text, WHAT_CHARS_MAX);
}
