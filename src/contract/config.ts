/** The configuration file: what a person or a repository wants of every run. */
import { z } from 'zod';
import { Duration, Timeout } from './duration.ts';
import { HOOKS_MAX } from './hook.ts';
import { Notification, UserHook } from './hook-config.ts';
import { KeySource } from './key-source.ts';
import { RUNTIMES, takesCommand } from './runtimes.ts';
import { Budget, IsolationDemand } from './workflow.ts';

const BASE_URL_MESSAGE =
  'must be an http or https address with no user, query or fragment, such as http://localhost:11434/v1';

const PASS_MESSAGE =
  'must be a method and a path, such as "POST /v1/files" or "GET /v1/files/*", or a tool, such as "TOOL web_search"';

export const ProviderConfig = z.strictObject({
  dialect: z.enum(['anthropic', 'openai', 'gemini']).optional(),
  'base-url': z.string(BASE_URL_MESSAGE).refine(isBaseUrl, BASE_URL_MESSAGE).optional(),
  key: KeySource.optional(),
  'key-as': z
    .enum(['bearer', 'x-api-key', 'x-goog-api-key'])
    .optional()
    .describe('The header that carries the key, where it is not the one of the dialect.'),
  login: z.enum(['agent', 'key']).optional().describe('Whose credentials go first where both have some.'),
  headers: z
    .record(z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/, 'is not the name of a header'), z.string())
    .optional(),
  pass: z
    .array(z.string().regex(/^((GET|HEAD|POST|PUT|PATCH|DELETE|\*) \/\S*|TOOL [\w*.-]+)$/, PASS_MESSAGE))
    .max(100)
    .optional()
    .describe('What agents may ask of it besides models; nothing of that is metered.'),
  concurrency: z.int().min(1).max(1000).optional(),
  'timeout-idle': Duration.optional(),
  patience: Duration.optional(),
});

/** Dollars for a million tokens. */
const Price = z.strictObject({
  input: z.number().nonnegative(),
  output: z.number().nonnegative(),
  'cache-read': z.number().nonnegative().optional(),
  'cache-write': z.number().nonnegative().optional(),
});

const providerName = z
  .string()
  .max(64)
  .regex(/^[a-z0-9]+([._-][a-z0-9]+)*$/, 'must be small letters and digits, with - . or _ between them');

/** What all runs may spend in a day or a month: in a user's file of everything, in a repository's of that alone. */
const SharedBudget = z.strictObject({
  'usd-per-day': z.number().positive().optional(),
  'usd-per-month': z.number().positive().optional(),
  enforce: Budget.shape.enforce,
  'unknown-price': Budget.shape['unknown-price'],
});

/** How a remote is logged in to, by its host, such as `github.com`. */
const RemoteConfig = z.strictObject({
  token: KeySource.optional(),
  user: z
    .string()
    .max(100)
    .regex(/^\w[\w.@+-]*$/, 'must be the name of a user')
    .optional()
    .describe('The name that goes with the token, where the host wants a certain one.'),
  forge: z
    .enum(['github', 'gitlab', 'gitea', 'bitbucket'])
    .optional()
    .describe('What runs there, where its name does not say it.'),
});

const hostName = z
  .string()
  .max(260)
  .regex(/^[a-z0-9[][a-z0-9.:\]-]*$/, 'must be a host, such as github.com or git.example.com:8443');

/** Those that need no command to be told what to start. */
const OWN_PROGRAM = RUNTIMES.filter((runtime) => !takesCommand(runtime));

const WORKSPACES_MESSAGE = 'must be an absolute path with no ".." in it';

export const Config = z.strictObject({
  isolation: IsolationDemand.optional().describe('Whether to run where commands cannot be fenced in.'),
  agents: z.int().min(1).max(10_000).optional().describe('Agents at work at once, of all runs of this user.'),
  timeout: Timeout.optional().describe('For each attempt of an agent with no time limit of its own.'),
  runtime: z.enum(OWN_PROGRAM).optional().describe('For agents that name none.'),
  model: z.string().min(1).max(200).optional().describe('For agents of the default runtime that name none.'),
  workspaces: z
    .string()
    .max(1000)
    .regex(/^\/(?!.*(^|\/)\.\.(\/|$))[^\0\n]*$/, WORKSPACES_MESSAGE)
    .optional()
    .describe('A directory for the workspaces of all repositories, in place of the one in .git.'),
  budget: SharedBudget.optional().describe('What all runs together may spend.'),
  providers: z.record(providerName, ProviderConfig).optional().describe('Where models are reached, and how.'),
  remotes: z.record(hostName, RemoteConfig).optional().describe('How remotes are logged in to, by host.'),
  prices: z
    .record(z.string().min(1).max(200), Price)
    .optional()
    .describe('Dollars for a million tokens, by the name of a model; * stands for any text.'),
  hooks: z
    .array(UserHook)
    .max(HOOKS_MAX)
    .optional()
    .describe('What is called when something happens, in this order.'),
  notify: z
    .array(Notification)
    .max(HOOKS_MAX)
    .optional()
    .describe('Who is notified when a run ends or needs a person.'),
});

export type RemoteConfig = z.output<typeof RemoteConfig>;
export type ProviderConfig = z.output<typeof ProviderConfig>;
export type Config = z.output<typeof Config>;

/** A configuration that was read. */
export interface ConfigFile {
  /** As messages call it. */
  file: string;
  config: Config;
  /** It is the user's own; else it came with the repository, maybe from a stranger. */
  isUsers: boolean;
  /** What it says and must not, in one line for people; none of that is in `config`. */
  ignored?: string;
}

function isBaseUrl(text: string): boolean {
  const url = URL.parse(text);
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) return false;
  return url.username === '' && url.password === '' && !/[?#]/.test(text);
}
