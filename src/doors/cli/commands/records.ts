/** `bosun workers`, `bosun templates`, `bosun items` */
import { BosunError } from '../../../contract/errors.ts';
import { plainLine, safeJson } from '../../../report/text/plain.ts';
import { ask, inputOf } from '../ask.ts';
import { isOn, type Typed } from '../command.ts';
import { writeError, writeOut } from '../output.ts';

interface Shown {
  id: string;
  name?: string;
  title?: string;
  status?: string;
}

const EXAMPLES: Readonly<Record<string, string>> = {
  workers: 'my-agent --command "my-agent"',
  templates: 'careful --prompt "Write a test first."',
  items: 'issue-7 --title "Fix the typos"',
};

export async function run(typed: Typed): Promise<number> {
  const [action = 'list', id] = typed.args;
  const { name } = typed.command;
  if (action !== 'list' && id === undefined)
    throw new BosunError('usage', `name the id, as in: bosun ${name} ${action} my-id`);
  const asJson = isOn(typed, 'json');
  const records = await asked(name, action, typed);
  for (const each of records) writeOut(asJson ? `${safeJson(each)}\n` : lineOf(each));
  if (records.length === 0)
    writeError(`no ${name}; make one with: bosun ${name} set ${EXAMPLES[name] ?? 'my-id'}\n`);
  return 0;
}

async function asked(name: string, action: string, typed: Typed): Promise<readonly Shown[]> {
  const id = typed.args[1]!;
  switch (`${name} ${action}`) {
    case 'workers list':
      return ask('workers', {});
    case 'workers set':
      return [await ask('putWorker', inputOf('putWorker', typed))];
    case 'workers remove':
      return [await ask('removeWorker', { id })];
    case 'templates list':
      return ask('templates', {});
    case 'templates set':
      return [await ask('putTemplate', inputOf('putTemplate', typed))];
    case 'templates remove':
      return [await ask('removeTemplate', { id })];
    case 'items list':
      return ask('items', {});
    case 'items set':
      return [await ask('putItem', inputOf('putItem', typed))];
    default:
      return [await ask('removeItem', { id })];
  }
}

function lineOf({ id, name, title, status }: Shown): string {
  return `${[id, name ?? title ?? '', status ?? ''].filter(Boolean).map(plainLine).join('  ')}\n`;
}
