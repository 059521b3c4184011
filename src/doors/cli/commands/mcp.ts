/** `bosun mcp`: this repository as tools for an agent outside of bosun, on stdin and stdout. */
import { BosunError } from '../../../contract/errors.ts';
import { ownVersion } from '../../../base/version.ts';
import { plainLine } from '../../../report/text/plain.ts';
import { say } from '../output.ts';

export async function run(): Promise<number> {
  if (process.env.BOSUN_ATTEMPT !== undefined || process.env.BOSUN_SOCKET !== undefined)
    throw new BosunError(
      'not-supported',
      'bosun mcp is for agents outside of bosun; inside an attempt the engine is reached with: bosun agent mcp, or bosun agent <word>',
    );
  const { serveOnStdio } = await import('../../mcp/stdio.ts');
  await serveOnStdio({ cwd: process.cwd(), version: ownVersion() }, (text) => say(plainLine(text)));
  return 0;
}
