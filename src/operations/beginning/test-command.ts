/**
 * Finds how a repository tests itself. It reads a few small files that may be a stranger's, starts nothing, and gives
 * only commands that are written here.
 */
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { fieldsOf } from '../../base/fields.ts';
import { parseJson } from '../../base/parse-json.ts';
import { readTextWithin } from '../../definition/source/read-text.ts';

const FILE_BYTES_MAX = 256 * 1024;
/** What `npm init` writes: there are no tests. */
const NO_TEST = /no test specified/;
const PYTEST = 'python3 -m pytest';
const ENTRIES_MAX = 1000;

/** By the files at the top, the surest first. */
export function findTestCommand(top: string): string | undefined {
  const has = (name: string): boolean => existsSync(path.join(top, name));
  const read = (name: string): string => {
    if (!has(name)) return '';
    const file = readTextWithin(top, path.join(top, name), FILE_BYTES_MAX);
    return 'text' in file ? file.text : '';
  };
  if (hasScript(read('package.json'))) return `${packageRunner(has)} test`;
  if (has('deno.json') || has('deno.jsonc')) return 'deno test';
  if (has('Cargo.toml')) return 'cargo test';
  if (has('go.mod')) return 'go test ./...';
  if (usesPytest(read)) return PYTEST;
  if (has('pom.xml')) return has('mvnw') ? './mvnw -q test' : 'mvn -q test';
  if (has('build.gradle') || has('build.gradle.kts'))
    return has('gradlew') ? './gradlew test' : 'gradle test';
  if (has('mix.exs')) return 'mix test';
  if (/^[ \t]*(gem|spec\.add_\w+)[ (]+['"]rspec['"]/m.test(read('Gemfile'))) return 'bundle exec rspec';
  const makefile = ['GNUmakefile', 'makefile', 'Makefile'].find(has);
  if (makefile !== undefined && /^test[ \t]*:(?!=)/m.test(read(makefile))) return 'make test';
  return pythonTests(top, has);
}

function hasScript(text: string): boolean {
  if (text === '') return false;
  try {
    const { test } = fieldsOf(fieldsOf(parseJson(text)).scripts);
    return typeof test === 'string' && test.trim() !== '' && !NO_TEST.test(test);
  } catch {
    return false; // whoever runs npm is told what is wrong with it
  }
}

export function packageRunner(has: (name: string) => boolean): string {
  if (has('pnpm-lock.yaml')) return 'pnpm';
  if (has('yarn.lock')) return 'yarn';
  return has('bun.lock') || has('bun.lockb') ? 'bun run' : 'npm';
}

function usesPytest(read: (name: string) => string): boolean {
  return (
    read('pytest.ini') !== '' ||
    /^\[tool:pytest\]/m.test(read('setup.cfg')) ||
    /\bpytest\b/.test(read('pyproject.toml')) ||
    /^pytest\b/m.test(read('requirements-dev.txt') || read('requirements.txt'))
  );
}

/** By what the first of them imports. */
function pythonTests(top: string, has: (name: string) => boolean): string | undefined {
  for (const directory of ['tests', 'test']) {
    const name = namesIn(top, directory).find((each) => /^test_\w+\.py$/.test(each));
    if (name === undefined) continue;
    const file = readTextWithin(top, path.join(top, directory, name), FILE_BYTES_MAX);
    if (!('text' in file) || !/^(import|from) unittest\b/m.test(file.text)) return PYTEST;
    return `python3 -m unittest discover -s ${directory}${has(`${directory}/__init__.py`) ? ' -t .' : ''}`;
  }
  return undefined;
}

function namesIn(top: string, directory: string): string[] {
  try {
    return readdirSync(path.join(top, directory)).toSorted().slice(0, ENTRIES_MAX);
  } catch {
    return []; // there is none
  }
}
