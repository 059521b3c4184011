/** Hooks and notifications as they are written: commands in a workflow; in a user's own configuration webhooks too. */
import { z } from 'zod';
import { Timeout } from './duration.ts';
import { HOOK_MOMENTS, NOTICE_MOMENTS, type HookMoment, type NoticeMoment } from './hook.ts';
import { KeySource } from './key-source.ts';

const moments = Object.keys(HOOK_MOMENTS) as [HookMoment, ...HookMoment[]];
const notices = Object.keys(NOTICE_MOMENTS) as [NoticeMoment, ...NoticeMoment[]];

const on = z.union(
  [z.enum(moments), z.array(z.enum(moments)).min(1).max(moments.length)],
  `must be one of ${moments.join(', ')}, or a list of some`,
);
const command = z
  .union(
    [z.string().min(1), z.array(z.string().min(1)).min(1).max(100)],
    'must be a command or a list of its words',
  )
  .describe('A string goes to the shell, a list is started as it is. It gets JSON on its stdin.');
/** In milliseconds; the shape was checked before. */
const UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const TIMEOUT_MS_MAX = 3_600_000;
const timeout = Timeout.refine((text) => {
  const [, number, unit] = /^([\d.]+)(\w+)$/.exec(text) ?? [];
  return Number(number) * (UNITS[unit ?? ''] ?? 0) <= TIMEOUT_MS_MAX;
}, 'must be at most 1h');
const name = z.string().min(1).max(64).describe('What events and messages call it.');

const URL_MESSAGE =
  'must be an http or https address with no user and no fragment, such as https://example.com/hook';
const Address = z.string(URL_MESSAGE).max(2000).refine(isAddress, URL_MESSAGE);

/** Whoever is asked to trust it reads all of it. */
const COMMAND_CHARS_MAX = 1000;
/** Also what is blank by its looks alone, as fillers and selectors are. */
const HIDDEN =
  // oxlint-disable-next-line no-misleading-character-class
  /[\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\u{e0000}-\u{e01ef}]|(?![\n\t])\p{C}/u;
/** More push what comes after them out of sight. */
const BLANKS_MAX = 8;
const BLANKS = new RegExp(`\\s{${BLANKS_MAX + 1}}`, 'u');
const readable = command
  .refine((written) => [written].flat().join(' ').length <= COMMAND_CHARS_MAX, {
    message: `must be at most ${COMMAND_CHARS_MAX} characters, so that people can read what they trust; put the rest into a file`,
  })
  .refine((written) => ![written].flat().some((word) => HIDDEN.test(word)), {
    message: 'must not have characters that do not show',
  })
  .refine((written) => !BLANKS.test([written].flat().join(' ')), {
    message: `must not have more than ${BLANKS_MAX} blanks in a row, so that people see all of what they trust; put the rest into a file`,
  });

export const WorkflowHook = z.strictObject({
  on,
  command: readable,
  name: name.optional(),
  timeout: timeout.optional(),
});

export const UserHook = z
  .strictObject({
    on,
    command: command.optional(),
    url: Address.optional(),
    secret: KeySource.optional().describe('Signs what is sent to the url.'),
    name: name.optional(),
    timeout: timeout.optional(),
  })
  .refine(
    ({ command, url }) => (command === undefined) !== (url === undefined),
    'must have a command or a url, and not both',
  )
  .refine(({ url, secret }) => secret === undefined || url !== undefined, {
    path: ['secret'],
    message: 'is for hooks with a url',
  })
  .refine(({ url, on }) => url === undefined || ![on].flat().includes('before-attempt'), {
    path: ['on'],
    message:
      'must not have before-attempt where there is a url: nobody waits for a webhook, so it cannot say no',
  });

const Target = z.union(
  [Address, KeySource],
  'must be an address, or where it is found: { env: NAME }, { command: [program, argument] } or { file: path }',
);

const WAYS = ['desktop', 'command', 'slack', 'ntfy'] as const;

export const Notification = z
  .strictObject({
    on: z
      .union(
        [z.enum(notices), z.array(z.enum(notices)).min(1).max(notices.length)],
        `must be ${notices.join(' or ')}, or both as a list`,
      )
      .optional(),
    desktop: z.literal(true).optional(),
    command: command.optional(),
    slack: Target.optional().describe('The address of an incoming webhook, which is a secret.'),
    ntfy: Address.optional().describe('The address of a topic.'),
    token: KeySource.optional().describe('For ntfy, where it wants one.'),
  })
  .refine(
    (written) => WAYS.filter((way) => written[way] !== undefined).length === 1,
    'must have exactly one of desktop, command, slack and ntfy',
  )
  .refine(({ ntfy, token }) => token === undefined || ntfy !== undefined, {
    path: ['token'],
    message: 'is for ntfy',
  });

export type WorkflowHook = z.output<typeof WorkflowHook>;
export type UserHook = z.output<typeof UserHook>;
export type Notification = z.output<typeof Notification>;

function isAddress(text: string): boolean {
  const url = URL.parse(text);
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) return false;
  return url.username === '' && url.password === '' && url.hash === '';
}
