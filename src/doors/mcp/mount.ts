/**
 * `/mcp` of `bosun serve`: the same tools over HTTP, for one of the repositories that are served. Who calls was checked
 * before, and its token says whether it may only look. The protocol is loaded with the first request.
 */
import { BosunError } from '../../contract/errors.ts';
import type { ServedRepository } from '../../contract/serving-schema.ts';
import { sharedWord } from '../http/access.ts';
import type { Mount } from '../http/server.ts';
import type { McpHttp } from './http.ts';

const MCP_PATH = '/mcp';
const LOCAL_NAMES = ['localhost', '127.0.0.1', '[::1]'];

export interface McpMountOptions {
  version: string;
  /** Names of this server besides those of loopback. */
  hosts: readonly string[];
}

export function mcpMount({ version, hosts }: McpMountOptions): Mount & AsyncDisposable {
  let door: Promise<McpHttp> | undefined;
  const names = [...LOCAL_NAMES, ...hosts.map((host) => host.replace(/:\d+$/, ''))];
  const open = async (): Promise<McpHttp> => {
    const { openMcpHttp } = await import('./http.ts');
    const where = (): never => {
      throw new BosunError('not-found', 'this request names no repository');
    };
    return openMcpHttp({ version, where, hosts: names, origins: names });
  };
  return {
    path: MCP_PATH,
    role: 'read',
    async serve(request, response, { caller, repositories }) {
      const { directory } = repositoryAt(request.url ?? '', repositories);
      const place = {
        cwd: directory,
        by: caller.by,
        isReadOnly: caller.role === 'read',
        ...sharedWord(caller),
      };
      await (await (door ??= open())).serve(request, response, place);
    },
    async [Symbol.asyncDispose]() {
      await (await door)?.[Symbol.asyncDispose]();
    },
  };
}

/** `/mcp/NAME`; without a name, the only one that is served. */
function repositoryAt(url: string, repositories: readonly ServedRepository[]): ServedRepository {
  const named = url.replace(/\?.*$/s, '').slice(MCP_PATH.length + 1);
  const found = named === '' && repositories.length === 1 ? repositories[0] : nameOf(named, repositories);
  if (found) return found;
  const there = repositories.map(({ name }) => `${MCP_PATH}/${name}`).join(', ') || 'none is served yet';
  throw new BosunError('not-found', `no repository is served at this address; there are: ${there}`);
}

function nameOf(named: string, repositories: readonly ServedRepository[]): ServedRepository | undefined {
  return repositories.find(({ name }) => encodeURIComponent(name) === named || name === named);
}
