/** `bosun init --mcp`: the entry for `bosun mcp` in the settings of agents, and what was done to which file. */
import path from 'node:path';
import { plainLine } from '../../../report/text/plain.ts';
import { ask, inputOf } from '../ask.ts';
import { given, type Typed } from '../command.ts';
import { say, writeError, writeOut } from '../output.ts';

export async function run(typed: Typed): Promise<number> {
  const clients = typed.options.for as string[] | undefined;
  const { command, entries } = await ask('initMcp', inputOf('initMcp', typed, given('clients', clients)));
  let isAll = true;
  for (const { client, file, did, why = '', entry } of entries) {
    const shown = plainLine(nameFromHere(file));
    if (did === 'written') writeOut(`${shown}\n`);
    if (did === 'written') writeError(`wrote the entry for ${client} to ${shown}\n`);
    if (did === 'kept') writeError(`${shown} has the entry for ${client} already\n`);
    if (did !== 'left') continue;
    isAll = false;
    const lines = entry.trimEnd().split('\n').map(plainLine).join('\n');
    say(`${shown} was not changed: ${plainLine(why)}. Add this for ${client} yourself:\n${lines}`);
  }
  if (command !== 'bosun')
    writeError(
      `bosun is not on your PATH, so the entries name ${plainLine(command)}: they work on this machine alone\n`,
    );
  writeError('restart the agent: it asks once whether it may use bosun\n');
  return isAll ? 0 : 1;
}

function nameFromHere(file: string): string {
  const relative = path.relative(process.cwd(), file);
  return relative.startsWith('..') ? file : relative;
}
