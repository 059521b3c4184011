/** Where bosun keeps what belongs to a user and to no repository. It makes nothing. */
import { homedir } from 'node:os';
import path from 'node:path';

/** A relative XDG_STATE_HOME is to be ignored, says its specification. */
export function userStateDirectory(env: NodeJS.ProcessEnv = process.env): string {
  const { XDG_STATE_HOME } = env;
  const isGiven = XDG_STATE_HOME !== undefined && path.isAbsolute(XDG_STATE_HOME);
  return path.join(isGiven ? XDG_STATE_HOME : path.join(homedir(), '.local', 'state'), 'bosun');
}
