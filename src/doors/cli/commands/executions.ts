/** `bosun executions` */
import { BosunError } from '../../../contract/errors.ts';
import { plainLine, safeJson } from '../../../report/text/plain.ts';
import { ask, inputOf } from '../ask.ts';
import { isOn, type Typed } from '../command.ts';
import { writeError, writeOut } from '../output.ts';

interface Shown {
  id: string;
  status: string;
  workerId: string;
  workItemId: string;
}

export async function run(typed: Typed): Promise<number> {
  const asJson = isOn(typed, 'json');
  const executions = await asked(typed);
  for (const each of executions) writeOut(asJson ? `${safeJson(each)}\n` : lineOf(each));
  if (executions.length === 0)
    writeError('no executions; start one with: bosun executions start --worker-id … --work-item-id …\n');
  return 0;
}

async function asked(typed: Typed): Promise<readonly Shown[]> {
  const [action = 'list', execution] = typed.args;
  if (action === 'list') return ask('executions', inputOf('executions', typed));
  if (action === 'workspaces') return ask('executionWorkspaces', {});
  if (action === 'start') return [await ask('execute', inputOf('execute', typed), { trust: true })];
  if (execution === undefined)
    throw new BosunError('usage', `name the execution, as in: bosun executions ${action} shop:execution-3`);
  if (action === 'show') return [await ask('execution', { execution })];
  if (action === 'cancel') return [await ask('cancelExecution', { execution })];
  return [await ask('cleanExecution', { execution })];
}

function lineOf({ id, status, workerId, workItemId }: Shown): string {
  return `${[id, status, workerId, workItemId].map(plainLine).join('  ')}\n`;
}
