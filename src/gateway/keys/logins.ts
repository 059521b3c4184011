/**
 * What the programs of this machine are logged in with, for agents that are the same program: those run with a home
 * of their own, where there is no login. What is found here is opened only when it is needed.
 */
import type { LoginParts, ProgramLogin } from '../../contract/login.ts';
import { ProviderKey, PLACEHOLDER_KEY, type Secret } from './keys.ts';
import { findLoginFile, LoginFile, noLogin, peek } from './login-file.ts';

/** A subscription, in place of a key. */
export interface Login extends Pick<
  ProgramLogin,
  'program' | 'baseUrl' | 'userAgent' | 'path' | 'headers' | 'remedy'
> {
  /** Where it is found, for people. */
  how: string;
  secret: Secret;
  open(): Promise<LoginParts>;
}

/** Nothing is read yet, but what says which kind of login it is. */
export function findLogin(program: ProgramLogin, env: NodeJS.ProcessEnv): Login | undefined {
  const found = loginInVariable(program, env) ?? loginInFile(program, env);
  if (!found) return undefined;
  const { program: name, baseUrl, userAgent, path, headers, remedy } = program;
  return { program: name, baseUrl, userAgent, path, headers, remedy, ...found };
}

/** A program can also be logged in with a key, which is as good as any other. */
export function findLoginKey(login: ProgramLogin, env: NodeJS.ProcessEnv): Secret | undefined {
  const { program, key } = login;
  const file = fileWith('key', login, env);
  if (file === undefined || !key) return undefined;
  const pick = (text: string): LoginParts => ({ token: key.of(text) });
  return new LoginFile({ program, file, pick, remedy: key.remedy });
}

type Found = Pick<Login, 'how' | 'secret' | 'open'>;

function loginInVariable({ program, variable }: ProgramLogin, env: NodeJS.ProcessEnv): Found | undefined {
  const given = variable === undefined ? undefined : env[variable]?.trim();
  if (variable === undefined || !given || given === PLACEHOLDER_KEY) return undefined;
  const secret = new ProviderKey({ env: variable }, 'bearer', { env });
  const open = async (): Promise<LoginParts> => ({ token: await secret.read() });
  return { how: `the login of ${program} in ${secret.how}`, secret, open };
}

function loginInFile(login: ProgramLogin, env: NodeJS.ProcessEnv): Found | undefined {
  const { program, plan, subscription, remedy } = login;
  const file = fileWith('subscription', login, env);
  if (file === undefined) return undefined;
  const pick = (text: string): LoginParts => {
    const parts = subscription(text);
    if (!('problem' in parts)) return parts;
    throw noLogin(`the login of ${program} ${parts.problem}; ${remedy} (it is in ${file})`);
  };
  const secret = new LoginFile({ program, file, pick, remedy });
  const how = plan === undefined ? secret.how : `${secret.how} ${plan}`;
  return { how, secret, open: () => secret.open() };
}

function fileWith(
  kind: 'subscription' | 'key',
  { place, kindOf }: ProgramLogin,
  env: NodeJS.ProcessEnv,
): string | undefined {
  const file = findLoginFile(env, place);
  return file !== undefined && kindOf(peek(file)) === kind ? file : undefined;
}
