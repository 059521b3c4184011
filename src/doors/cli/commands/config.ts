/** `bosun config`: what is configured and where it came from; with an action, one key of it. */
import { homedir } from 'node:os';
import { BosunError } from '../../../contract/errors.ts';
import type { Configuration, ConfiguredValue } from '../../../contract/config-outputs.ts';
import { columnsOf, padColumns } from '../../../report/text/columns.ts';
import { safeJson, spellControls } from '../../../report/text/plain.ts';
import { ask } from '../ask.ts';
import { given, isOn, type Typed } from '../command.ts';
import { hasColor, painter, say, writeError, writeOut } from '../output.ts';

const KEY_COLUMNS_MAX = 40;
const VALUE_COLUMNS_MAX = 40;

export async function run(typed: Typed): Promise<number> {
  const [action, key, value] = typed.args;
  const repository = isOn(typed, 'repository');
  if (action === undefined) {
    const shown = await ask('config', {});
    if (isOn(typed, 'json')) writeOut(`${safeJson(shown)}\n`);
    else tellAll(shown);
    return 0;
  }
  if (key === undefined)
    throw new BosunError('usage', `config ${action}: name a key; see them with: bosun config`);
  if (action === 'get') tellOne(await ask('config', { key }), isOn(typed, 'json'));
  else if (action === 'set') {
    if (value === undefined) throw new BosunError('usage', `config set ${key}: which value?`);
    await set(typed, { key, value, ...given('repository', repository || undefined) });
  } else await unset({ key, ...given('repository', repository || undefined) });
  return 0;
}

async function set(typed: Typed, input: { key: string; value: string; repository?: true }): Promise<void> {
  const done = await ask('setConfig', input);
  if (isOn(typed, 'json')) writeOut(`${safeJson(done)}\n`);
  writeError(`set ${spellControls(done.key)} in ${short(done.file)}\n`);
  await tellWhatCounts(done.key, done.file);
}

async function unset(input: { key: string; repository?: true }): Promise<void> {
  const { key, file, wasSet } = await ask('unsetConfig', input);
  writeError(`${spellControls(key)} ${wasSet ? 'is no longer set' : 'was not set'} in ${short(file)}\n`);
}

/** Somebody else may say it too, and go first. */
async function tellWhatCounts(key: string, file: string): Promise<void> {
  const { values } = await ask('config', { key });
  for (const each of values)
    if (each.over.some(({ where }) => where === file))
      say(`${each.key} is still ${shown(each.value)}: ${originOf(each)} goes first`, 'warning');
}

function tellAll({ values }: Configuration): void {
  const paint = painter(hasColor(process.stdout));
  const width = (texts: string[], most: number): number => Math.min(most, Math.max(...texts.map(columnsOf)));
  const keys = width(
    values.map(({ key }) => spellControls(key)),
    KEY_COLUMNS_MAX,
  );
  const shownWidth = width(
    values.map(({ value }) => shown(value)),
    VALUE_COLUMNS_MAX,
  );
  for (const each of values) {
    const over = each.over.map((said) => `${shown(said.value)} in ${short(said.where)}`);
    const origin = `${originOf(each)}${over.length > 0 ? ` (not ${over.join(', ')})` : ''}`;
    const key = padColumns(spellControls(each.key), keys);
    writeOut(`${key}  ${padColumns(shown(each.value), shownWidth)}  ${paint('quiet', origin)}\n`);
  }
}

/** The value alone, for a script; a map by its keys. */
function tellOne({ values }: Configuration, asJson: boolean): void {
  for (const each of values) {
    if (asJson) writeOut(`${safeJson(each)}\n`);
    else if (each.value !== null)
      writeOut(`${values.length > 1 ? `${spellControls(each.key)} ` : ''}${shown(each.value)}\n`);
    else if (values.length === 1) writeError(`${spellControls(each.key)} is not set, and has no default\n`);
  }
}

function shown(value: ConfiguredValue['value']): string {
  if (value === null) return '-';
  return spellControls(typeof value === 'string' ? value : JSON.stringify(value));
}

function originOf({ from, where }: ConfiguredValue): string {
  if (from === 'default') return 'default';
  return from === 'environment' ? `${where} in the environment` : short(where ?? '');
}

function short(file: string): string {
  const home = `${homedir()}/`;
  return spellControls(file.startsWith(home) ? `~/${file.slice(home.length)}` : file);
}
