/**
 * How a token reaches git, and nothing else: in a pipe that only its owner opens, for as long as one command takes,
 * handed out by a program that answers git's question for this one host. It is in no address, argument, variable,
 * configuration or trace. What is in a pipe is on no disk, and gone with the process that holds it, however it ends.
 */
import { chmod, constants, open, rm, writeFile, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { shellWord } from '../base/shell-word.ts';
import { BosunError } from '../contract/errors.ts';
import { capture } from '../system/process/process.ts';
import type { Address } from './address.ts';

export interface RemoteToken {
  value: string;
  /** The name that goes with it, where the address has none. */
  user?: string | undefined;
  /** Where it comes from, for people. */
  how: string;
  /** The variable that holds it: not for git and what git starts. */
  variable?: string | undefined;
}

export interface RemoteCredentials {
  /** What git is told to talk to. */
  url: string;
  options: string[];
  env: Record<string, string>;
  /** Variables of the caller's that git does not get. */
  without: string[];
  /** The token is gone, whatever becomes of the rest of the directory. */
  forget?(): Promise<void>;
}

/** Any name will do for most hosts, as long as there is one. */
const USER_DEFAULT = 'x-access-token';
const USERS: Record<string, string> = { 'bitbucket.org': 'x-token-auth' };

/** Without a token it is the user's own set-up that counts: credential helpers, .netrc, ssh. */
export function ownCredentials({ url }: Address, mayPrompt: boolean): RemoteCredentials {
  // where nobody is there to be asked, no window must open that waits for them
  return mayPrompt
    ? { url, options: [], env: { GIT_TERMINAL_PROMPT: '1' }, without: [] }
    : { url, options: [], env: {}, without: ['SSH_ASKPASS'] };
}

/** `directory` is the caller's alone, and is removed by the caller after the command. */
export async function tokenCredentials(
  address: Address,
  token: RemoteToken,
  directory: string,
): Promise<RemoteCredentials> {
  const url = new URL(address.url);
  if (url.username === '') url.username = token.user ?? USERS[url.hostname] ?? USER_DEFAULT;
  const file = path.join(directory, 'token');
  const program = path.join(directory, 'askpass');
  // word for word: another host, after a redirect say, is another question
  const question = `Password for '${url.protocol}//${url.username}@${url.host}': `;
  const pipe = await pipeWith(file, `${token.value}\n`);
  await writeFile(program, pipe ? fromPipe(question, file) : fromFile(question, file), {
    mode: 0o700,
    flag: 'wx',
  });
  await chmod(program, 0o700); // whatever the umask
  return {
    url: url.href,
    // the user's helpers would be asked first, and could store it
    options: ['-c', 'credential.helper=', '-c', 'credential.useHttpPath=false'],
    env: { GIT_ASKPASS: program, GIT_TERMINAL_PROMPT: '0' },
    without: token.variable === undefined ? [] : [token.variable],
    async forget() {
      await pipe?.close();
      await rm(file, { force: true });
    },
  };
}

/** Undefined where the file system has no pipes: then it is a file, which a later run takes away if this one is killed. */
async function pipeWith(file: string, line: string): Promise<FileHandle | undefined> {
  const { code } = await capture(['mkfifo', '-m', '600', file]);
  if (code !== 0) {
    await writeFile(file, line, { mode: 0o600, flag: 'wx' });
    return undefined;
  }
  const pipe = await open(file, constants.O_RDWR | constants.O_NONBLOCK);
  await pipe.write(line);
  return pipe;
}

/** git may ask again: whoever takes the line out puts it back. Nobody waits for a process that is gone. */
function fromPipe(question: string, file: string): string {
  const pipe = shellWord(file);
  return `#!/bin/sh
[ "$1" = ${shellWord(question)} ] && kill -0 ${process.pid} || exit 1
IFS= read -r line < ${pipe} && printf '%s\\n' "$line" > ${pipe} && printf '%s\\n' "$line"
`;
}

function fromFile(question: string, file: string): string {
  return `#!/bin/sh\n[ "$1" = ${shellWord(question)} ] || exit 1\nexec cat ${shellWord(file)}\n`;
}

export function requireHttp(address: Address, token: RemoteToken | undefined): void {
  if (token === undefined || address.transport !== 'ssh') return;
  throw new BosunError(
    'usage',
    `${address.host} is reached by ssh, which takes keys and no token: leave out the token, or use the https address of the repository`,
  );
}
