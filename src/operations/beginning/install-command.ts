/**
 * Finds what brings the dependencies that the tests of a Node repository need, where they are not there yet. It reads one
 * small file that may be a stranger's, starts nothing, and gives only commands that are written here.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fieldsOf } from '../../base/fields.ts';
import { parseJson } from '../../base/parse-json.ts';
import { readTextWithin } from '../../definition/source/read-text.ts';
import { packageRunner } from './test-command.ts';

const FILE_BYTES_MAX = 256 * 1024;

/** Nothing where there are none, or where they are kept elsewhere than in node_modules. */
export function findInstallCommand(top: string): string | undefined {
  const has = (name: string): boolean => existsSync(path.join(top, name));
  if (!has('package.json') || has('node_modules') || has('.pnp.cjs')) return undefined;
  if (!namesPackages(path.join(top, 'package.json'), top)) return undefined;
  const runner = packageRunner(has).replace(/ run$/, '');
  return runner === 'npm' && has('package-lock.json') ? 'npm ci' : `${runner} install`;
}

function namesPackages(file: string, top: string): boolean {
  const read = readTextWithin(top, file, FILE_BYTES_MAX);
  if (!('text' in read)) return false;
  try {
    const { dependencies, devDependencies } = fieldsOf(parseJson(read.text));
    return [dependencies, devDependencies].some((each) => Object.keys(fieldsOf(each)).length > 0);
  } catch {
    return false; // whoever runs npm is told what is wrong with it
  }
}
