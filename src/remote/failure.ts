/**
 * What a remote's refusal or a broken connection means to a person: from what git printed to one error with a code and
 * what to do. What the server itself wrote is shown, bounded and harmless, and never decides what went wrong.
 */
import { remedyFor } from '../base/machine-failure.ts';
import { BosunError, type ErrorCode } from '../contract/errors.ts';
import type { Address } from './address.ts';
import type { RemoteToken } from './credentials.ts';

const WORDS_CHARS_MAX = 1000;
const LINES_MAX = 8;

interface Meaning {
  sign: RegExp;
  code: ErrorCode;
  why: string;
  remedy: string;
  /** Nothing was sent or taken before it, so it can be tried again. */
  isEarly?: boolean;
}

const LOGIN_REMEDY =
  'name a file with a token (--token-file), set one up under "remotes" in your own configuration, or log in with git';

/** In this order: what stands first says more. All are words of git, curl or ssh, at the start of a line. */
const MEANINGS: Meaning[] = [
  {
    sign: /^(fatal: unable to update url base from redirection|.*URL redirected|fatal: could not read \w+ for '[^']*': terminal prompts disabled)/m,
    code: 'auth',
    why: 'the server asks for a login and there is none for it',
    remedy: LOGIN_REMEDY,
  },
  {
    sign: /^(fatal: Authentication failed for|error: unable to read askpass response|fatal: could not read \w+ for|fatal: unable to access '[^']*': The requested URL returned error: 40[13])/m,
    code: 'auth',
    why: 'the server does not accept the login',
    remedy: LOGIN_REMEDY,
  },
  {
    sign: /^(?:\S+@\S+: )?(Permission denied \(|Received disconnect from .*Too many authentication failures)/m,
    code: 'auth',
    why: 'the server does not accept any of your ssh keys',
    remedy: 'add your key to the account there, and to ssh-agent here; check it with: ssh -T USER@HOST',
  },
  {
    sign: /^(Host key verification failed|No \S+ host key is known for)/m,
    code: 'auth',
    why: 'ssh does not know the server, or it has another key than before',
    remedy: 'connect to it once with ssh and check its key',
  },
  {
    sign: /^fatal: (Remote branch .* not found in upstream|couldn't find remote ref)/m,
    code: 'not-found',
    why: 'it has no such branch',
    remedy: 'check the name of the branch',
  },
  {
    sign: /^(fatal: repository '[^']*' not found|fatal: unable to access '[^']*': The requested URL returned error: 404|fatal: '[^']*' does not appear to be a git repository)/m,
    code: 'not-found',
    why: 'there is no such repository, or your login may not see it',
    remedy: 'check the address, and that the login has access to it',
  },
  {
    sign: /^fatal: transport '[^']*' not allowed/m,
    code: 'usage',
    why: 'your own git configuration (url.….insteadOf) leads somewhere that bosun does not go',
    remedy: 'use https or ssh there',
  },
  {
    sign: /(server certificate verification failed|SSL certificate problem|certificate has expired|SSL: no alternative certificate subject name)/i,
    code: 'network',
    why: 'its certificate cannot be verified',
    remedy: 'check the address; for a certificate of your own set http.sslCAInfo in your git configuration',
  },
  {
    sign: /(Could not resolve host|Could not resolve hostname|Temporary failure in name resolution)/,
    code: 'network',
    why: 'its name cannot be found',
    remedy: 'check the address and your network',
    isEarly: true,
  },
  {
    sign: /^(fatal: unable to access '[^']*': .*(Failed to connect|Couldn't connect|Connection refused|Connection timed out|Connection was reset|Recv failure|Empty reply)|ssh: connect to host|kex_exchange_identification)/m,
    code: 'network',
    why: 'it cannot be reached',
    remedy: 'check the address and your network, then try again',
    isEarly: true,
  },
  {
    sign: /^fatal: unable to access '[^']*': The requested URL returned error: (429|5\d\d)/m,
    code: 'network',
    why: 'the server is overloaded or broken',
    remedy: 'try again later',
    isEarly: true,
  },
  {
    sign: /(Operation too slow|RPC failed|early EOF|unexpected disconnect|the remote end hung up|Connection (closed|reset) by|Could not read from remote repository|unable to access)/,
    code: 'network',
    why: 'the connection broke',
    remedy: 'check your network, then try again',
  },
];

export interface RemoteFailure {
  error: BosunError;
  isEarly: boolean;
}

/** `doing`: such as "cannot push to origin". */
export function failureOf(
  doing: string,
  stderr: string,
  { address, token }: { address: Address; token?: RemoteToken | undefined },
): RemoteFailure {
  const said = withoutToken(stderr, token);
  const own = said
    .split('\n')
    .filter((line) => !line.startsWith('remote: '))
    .join('\n');
  const data = { stderr: plainWords(said) };
  const where = `${doing} (${address.host})`;
  // git names it as well where it was the server's disk: that stands in the server's lines
  const isFull = new BosunError('system', '', { data: { stderr: own } });
  const remedy = remedyFor(isFull);
  if (remedy !== undefined && /No space left on device|Disk quota exceeded/.test(own))
    return early(new BosunError('system', `${where}: ${plainWords(own)}; ${remedy}`, { data }), false);
  const meaning = MEANINGS.find(({ sign }) => sign.test(own));
  const words = plainWords(serverWords(said) || (meaning ? '' : own));
  if (!meaning)
    return early(
      new BosunError(
        'network',
        `${where}: git says: ${words || 'nothing'}; check the address and try again`,
        {
          data,
        },
      ),
      false,
    );
  const { code, why, isEarly = false } = meaning;
  const told = words === '' ? '' : ` (it says: ${words})`;
  const how = code === 'auth' && token !== undefined ? ` with the token from ${token.how}` : '';
  return early(new BosunError(code, `${where}: ${why}${how}${told}; ${meaning.remedy}`, { data }), isEarly);
}

function early(error: BosunError, isEarly: boolean): RemoteFailure {
  return { error, isEarly };
}

/** What the server itself had to say, without git's mark before it. */
export function serverWords(stderr: string): string {
  return stderr
    .split('\n')
    .flatMap((line) => /^(?:remote: |fatal: remote error: )(.*)$/.exec(line)?.[1] ?? [])
    .join('\n');
}

/** A few lines as one, with nothing in them that a terminal would act on. */
export function plainWords(text: string): string {
  return text
    .split(/[\r\n]+/)
    .map((line) => line.replaceAll(/[\p{C}\u2028\u2029]+/gu, ' ').trim())
    .filter((line) => line !== '' && !line.startsWith('hint:'))
    .slice(0, LINES_MAX)
    .join('; ')
    .slice(0, WORDS_CHARS_MAX);
}

/** The server knows it, and may say it back. */
export function withoutToken(text: string, token: RemoteToken | undefined): string {
  if (token === undefined) return text;
  return text.replaceAll(token.value, '***');
}
