/**
 * The address of a remote, as people and repositories write it: read, judged and never trusted. Only https, ssh, and
 * http on this machine get through, so that nothing git is handed can name a program, a file or an option. It never
 * contacts anybody.
 */
import { cutText } from '../base/cut-text.ts';
import { isLoopback } from '../base/is-loopback.ts';
import { BosunError } from '../contract/errors.ts';

export interface Address {
  /** As git takes it; no password is in it. */
  url: string;
  transport: 'https' | 'http' | 'ssh';
  /** With the port, where it is not the usual one. */
  host: string;
  hostname: string;
  user?: string;
  /** Of the repository on its host: without a slash around it and without `.git`. */
  path: string;
}

const CHARS_MAX = 2000;
const SHOWN_CHARS_MAX = 100;
const HOST = /^(\w[\w.-]*|\[[0-9a-fA-F:.]+\])$/;
const USER = /^\w[\w.+-]*$/;
const SCP = /^(?:([^@/:]+)@)?([^@/:[\]]+|\[[^\]]*\]):(.+)$/;
/** What a token looks like that somebody wrote where a user's name goes. */
const TOKEN = /^(gh[a-z]_|github_pat_|glpat-|gldt-|ATBB|ATCTT)|^[\w.-]{30,}$/;
const TOKEN_REMEDY =
  'save the token in a file of mode 600 and name it with --token-file, or set it up once under "remotes" in your own configuration';

/** Throws `usage` where bosun does not go there. */
export function parseAddress(text: string): Address {
  if (text === '') throw refused('an empty address', 'name one such as https://host/owner/repository.git');
  if (text.length > CHARS_MAX)
    throw refused('an address of that length', `${CHARS_MAX} characters are enough`);
  if (/[\s\p{C}]/u.test(text))
    throw refused('an address with blanks or control characters in it', 'write it without them');
  if (text.startsWith('-')) throw refused(shown(text), 'an address does not begin with a dash');
  const helper = /^([\w+.-]+)::/.exec(text)?.[1];
  if (helper !== undefined)
    throw refused(`an address of the kind ${helper}::`, 'it names a program to run; use https or ssh');
  return /^[\w+.-]+:\/\//.test(text) ? fromUrl(text) : fromScp(text);
}

function fromUrl(text: string): Address {
  const url = URL.parse(text);
  if (!url) throw refused('an address that is not valid', 'write it as https://host/owner/repository.git');
  const { hostname, host, username, password, protocol, pathname } = url;
  const transport = protocol.slice(0, -1);
  if (transport !== 'https' && transport !== 'http' && transport !== 'ssh')
    throw refused(`an address of the kind ${shown(transport)}://`, 'use https or ssh');
  if (!HOST.test(hostname)) throw refused('an address whose host has odd characters', 'correct the host');
  if (transport === 'http' && !isLoopback(hostname))
    throw refused(`http://${host}`, 'whoever is on the way could read and change it; use https');
  if (password !== '' || TOKEN.test(username))
    throw refused(
      `an address with a password in it (${host})`,
      `it would end up in configuration files, process lists and logs; ${TOKEN_REMEDY}`,
    );
  if (url.search !== '' || url.hash !== '')
    throw refused(`an address with ? or # in it (${host})`, 'write it without');
  const user = username === '' ? undefined : username;
  if (transport === 'ssh' && user !== undefined && !USER.test(user))
    throw refused(`a user with odd characters at ${host}`, 'correct the user');
  return checked({ url: url.href, transport, host, hostname, path: plainPath(pathname) }, user);
}

function fromScp(text: string): Address {
  const [, user, host, path] = SCP.exec(text) ?? [];
  if (host === undefined || path === undefined)
    throw isDirectory(text)
      ? refused(
          `the directory ${shown(text)}`,
          'bosun sends work over https and ssh alone; use git itself for directories of this machine',
        )
      : new BosunError(
          'usage',
          `"${shown(text)}" is not the address of a repository: write it in full, such as ${inFull(text)}`,
        );
  if (!HOST.test(host)) throw refused('an address whose host has odd characters', 'correct the host');
  if (user !== undefined && !USER.test(user))
    throw refused(`a user with odd characters at ${host}`, 'correct the user');
  if (path.startsWith('-')) throw refused(`a path at ${host} that begins with a dash`, 'correct the path');
  return checked({ url: text, transport: 'ssh', host, hostname: host, path: plainPath(path) }, user);
}

/** As it is written: nothing is looked at. */
function isDirectory(text: string): boolean {
  return /^([./~\\]|[A-Za-z]:)/.test(text);
}

/** `github.com/owner/name`, or `owner/name`, as people say it. */
function inFull(text: string): string {
  const plain = /^[\w.-]+(\/[\w.-]+){1,3}$/.test(text) ? text : 'owner/repository';
  const isHost = plain.split('/')[0]!.includes('.') && plain.split('/').length > 2;
  return `https://${isHost ? '' : 'github.com/'}${plain}`;
}

function checked(address: Omit<Address, 'user'>, user: string | undefined): Address {
  if (address.path === '') throw refused(address.host, 'the address names no repository on it');
  return { ...address, ...(user !== undefined && { user }) };
}

function plainPath(path: string): string {
  return path.replace(/^\/+|\/+$/g, '').replace(/\.git$/, '');
}

function refused(what: string, why: string): BosunError {
  return new BosunError('usage', `bosun does not use ${what} as a remote: ${why}`);
}

function shown(text: string): string {
  return cutText(text, SHOWN_CHARS_MAX);
}
