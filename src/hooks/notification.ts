/**
 * Notifications: a title and a text, on the desktop, in a Slack-compatible channel or an ntfy topic. What agents wrote
 * is text in there and nothing else: no markup, no mention of everybody, no header.
 */
import { BosunError } from '../contract/errors.ts';
import { findProgram } from '../system/process/process.ts';
import { tellCommand, type HookCommand } from './command-hook.ts';
import type { TellUntil } from './hook.ts';
import { untilAborted } from '../base/until-aborted.ts';
import { deliver, type WebhookOptions } from './webhook.ts';

/** Both are one line of printable characters, bounded. */
export interface Notice {
  /** Of bosun's own words and names alone: ASCII. */
  title: string;
  text: string;
  /** Somebody has to do something. */
  isUrgent: boolean;
}

export const DESKTOP_PROGRAM = 'notify-send';

export async function tellDesktop(
  surroundings: Omit<HookCommand, 'command'>,
  { title, text, isUrgent }: Notice,
  until: TellUntil,
): Promise<void> {
  const program = findProgram(DESKTOP_PROGRAM);
  if (program === undefined)
    throw new BosunError('system', `${DESKTOP_PROGRAM} is not installed; it comes with libnotify`);
  const urgency = isUrgent ? ['--urgency=critical'] : [];
  // Notification servers read some markup in what is below the title.
  const command = [program, '--app-name=bosun', ...urgency, '--', title, escapeMarkup(text)];
  await tellCommand({ ...surroundings, command }, {}, until);
}

interface To extends Pick<WebhookOptions, 'env'> {
  address(): Promise<string> | string;
}

export async function tellSlack({ address, env }: To, notice: Notice, until: TellUntil): Promise<void> {
  const url = await untilAborted(address, until.signal);
  const text = `${slackText(notice.title)}\n${slackText(notice.text)}`;
  const body = JSON.stringify({
    text,
    mrkdwn: false,
    link_names: false,
    unfurl_links: false,
    unfurl_media: false,
  });
  const headers = { 'content-type': 'application/json' };
  await deliver(() => ({ url, headers, body, env }), until);
}

export async function tellNtfy(
  { address, env, token }: To & { token?: (() => Promise<string>) | undefined },
  { title, text, isUrgent }: Notice,
  until: TellUntil,
): Promise<void> {
  const url = await untilAborted(address, until.signal);
  const key = token && (await untilAborted(token, until.signal));
  const headers = {
    'content-type': 'text/plain; charset=utf-8',
    title: title.replaceAll(/[^\x20-\x7e]/g, '?'),
    ...(isUrgent && { priority: 'high' }),
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
  };
  await deliver(() => ({ url, headers, body: text, env }), until);
}

/** `<!channel>` and links need the escaped characters; older channels act on `@channel` alone. */
function slackText(text: string): string {
  return escapeMarkup(text).replaceAll(/@(?=channel|here|everyone)/gi, '@\u2060');
}

function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
