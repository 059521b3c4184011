import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

/** Imports point down only: a folder may import those that stand in a row below its own. */
const ROWS: string[][] = [
  ['main', 'index'],
  ['doors'],
  ['operations'],
  ['run'],
  ['attempt'],
  [
    'definition',
    'workspace',
    'sandbox',
    'egress',
    'crew',
    'runtime',
    'gateway',
    'model-server',
    'collect',
    'merge',
    'remote',
    'hooks',
    'report',
  ],
  ['schedule'],
  ['store'],
  ['system'],
  ['base', 'contract'],
];
/** Folders of one row that may know each other, each with its reason. */
const EXCEPTIONS = new Set([
  'base→contract', // an error is thrown with its code
]);
const LINES_MAX = 480;
/** Runtimes are named in their own folders, in the list of them, and in these files, each with its reason. */
const NAMING: Record<string, string> = {
  'src/contract/runtimes.ts': 'the names that a workflow may use',
  'src/definition/agent-files.ts': 'files below .claude/agents are for Claude Code',
  'src/definition/check/runtime-hint.ts': 'what other tools call a runtime',
  'src/runtime/agent/choose-model.ts': 'by how the names of models begin',
  'src/operations/conformance/planted.ts': 'a repository with the settings of all programs, of a stranger',
  'src/doors/cli/table.ts': 'examples in help',
  'src/doors/cli/commands/exec.ts': 'an example in a message',
  'src/contract/mcp-clients.ts': 'the agents outside of bosun that can use it',
  'src/operations/init-mcp/clients.ts': 'where these keep their settings',
};

/** Names that several files export, since they mean the same there. */
const EXPORTED_AGAIN = [
  // the function of each command
  'run',
  // what an operation gives, and its schema
  'AttachedRun',
  'Checked',
  'FeedbackRun',
  'Pruned',
  'Verdict',
  // an operation, and how doors get at it
  'questionMeant',
  // what two languages of schemas are made of; `count` is also how reports write "3 tasks"
  'count',
  'flag',
  'text',
];

/** Of src/base, what the page takes with it. */
const PURE_BASE = [
  'src/base/dot-git.ts',
  'src/base/fields.ts',
  'src/base/cut-text.ts',
  'src/base/format-count.ts',
  'src/base/glob-problems.ts',
  'src/base/glob-syntax.ts',
  'src/base/shell-word.ts',
  'src/base/suggest.ts',
  'src/base/units.ts',
  'src/base/globs.ts',
];
/** What vite.config.ts puts something lighter in place of. */
const REPLACED = new Map([['src/schedule/workflow/item-scope.ts', 'web/data/item-scope.ts']]);

const sources = files('src').filter((file) => file.endsWith('.ts'));
const pageSources = files('web').filter((file) => /\.tsx?$/.test(file));

describe('the tree', () => {
  it('has imports that point down only', () => {
    const wrong = sources.flatMap((file) =>
      importsOf(file).flatMap((target) => {
        const [from, to] = [unitOf(file), unitOf(target)];
        if (from === to || EXCEPTIONS.has(`${from}→${to}`)) return [];
        return rowOf(from) < rowOf(to) ? [] : [`${file} imports ${target}`];
      }),
    );
    expect(wrong).toEqual([]);
  });

  it('exports no name with two meanings', () => {
    const files = new Map<string, Set<string>>();
    for (const file of sources)
      for (const [, name] of text(file).matchAll(
        /^export (?:async )?(?:function\*?|(?:abstract )?class|const|let|interface|type) (\w+)/gm,
      ))
        files.set(name!, (files.get(name!) ?? new Set()).add(file));
    const again = [...files].filter(([, all]) => all.size > 1).map(([name]) => name);
    expect(again.sort()).toEqual([...EXPORTED_AGAIN].sort());
  });

  it('keeps the contract free of anything of ours and of Node', () => {
    const wrong = sources
      .filter((file) => unitOf(file) === 'contract')
      .flatMap((file) =>
        [...text(file).matchAll(/from '(node:[^']+|\.\.\/[^']+)'/g)].map((match) => `${file}: ${match[1]}`),
      );
    expect(wrong).toEqual([]);
  });

  it('keeps the core free of Node', () => {
    const core = sources.filter((file) => unitOf(file) === 'schedule');
    expect(core.filter((file) => /'node:|\bprocess\.|\bBuffer\b/.test(withoutComments(text(file))))).toEqual(
      [],
    );
  });

  it('asks for operations in one way: a door takes no function of theirs but words', () => {
    const words = ['src/operations/trust.ts', 'src/operations/conformance/verdict.ts'];
    const wrong = sources
      .filter((file) => unitOf(file) === 'doors')
      .flatMap((file) =>
        [...text(file).matchAll(/^import (?!type )[^;]*? from '([^']*\/operations\/[^']+)';/gm)]
          .map((match) => path.join(path.dirname(file), match[1]!))
          .filter((target) => target !== 'src/operations/perform.ts' && !words.includes(target))
          .map((target) => `${file} imports ${target}`),
      );
    expect(wrong).toEqual([]);
  });

  it('has a page that knows the contract and what is pure alone, and brings no schemas with it', () => {
    const pure = /^(web|src\/(contract|schedule|report))\//;
    const entries = pageSources.filter((file) => !file.endsWith('.config.ts'));
    const loaded = [...loadedWith(entries, REPLACED).keys()].filter((file) => /\.tsx?$/.test(file));
    expect(loaded.filter((file) => !pure.test(file) && !PURE_BASE.includes(file))).toEqual([]);
    const heavy = /^import (?!type )[^;]*? from '(node:[^']+|zod|string-width|@marcbachmann[^']+)';/m;
    expect(loaded.filter((file) => heavy.test(text(file)))).toEqual([]);
  });

  it('starts processes and runs git in one place each', () => {
    const spawning = sources.filter(
      (file) =>
        text(file).includes("from 'node:child_process'") &&
        !/import type \{[^}]*\} from 'node:child_process'/.test(text(file)),
    );
    expect(spawning).toEqual(['src/system/process/process.ts']);
  });

  it('names a runtime in its own folder and in the list of them', () => {
    const own = /^src\/runtime\/(acp|claude-code|cli|codex|opencode)\//;
    const names = /(?<![\w./@-])(claude-code|opencode|codex)(?![\w/])|'acp'/i;
    const naming = sources.filter((file) => file !== 'src/runtime/runtimes.ts' && !own.test(file));
    const found = naming.filter((file) => names.test(withoutComments(text(file))));
    expect(found.toSorted()).toEqual(Object.keys(NAMING).toSorted());
  });

  it('lets status start without the schemas, which take longer to load than it has in all', () => {
    const loaded = loadedWith(['src/doors/cli/cli.ts', 'src/doors/cli/commands/status.ts']);
    const schemas = [...loaded].filter(([file]) => /^import (?!type ).*from 'zod'/m.test(text(file)));
    expect(schemas.map(([file, because]) => `${file}, since ${because} imports it`)).toEqual([]);
  });

  it(`has no file of more than ${LINES_MAX} lines`, () => {
    const all = [...sources, ...pageSources, ...files('test'), ...files('bench')].filter((file) =>
      /\.tsx?$/.test(file),
    );
    expect(all.filter((file) => text(file).split('\n').length > LINES_MAX)).toEqual([]);
  });

  it('opens every source file with a sentence on what it owns', () => {
    expect([...sources, ...pageSources].filter((file) => !text(file).startsWith('/**'))).toEqual([]);
  });

  it('names files for what they hold', () => {
    const all = tracked().filter((file) => /\.tsx?$/.test(file));
    const odd = all.filter(
      (file) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.(test|case|config))?\.tsx?$/.test(path.basename(file)),
    );
    const vague = all.filter((file) =>
      /\b(utils?|helpers?|manager|service|common)\b/.test(path.basename(file)),
    );
    expect([...odd, ...vague]).toEqual([]);
  });

  it('leaves nothing for later and skips nothing', () => {
    const here = 'test/tidy.test.ts';
    const all = tracked().filter((file) => /\.(tsx?|css|md|sh)$/.test(file) && file !== here);
    const left = all.filter((file) =>
      /\b(TODO|FIXME|XXX|HACK)\b|\b(it|test|describe)\.(skip|only|todo)\b/.test(text(file)),
    );
    expect(left).toEqual([]);
  });

  it('has an architecture page that names every folder and file at the top of src', () => {
    const page = text('ARCHITECTURE.md');
    const missing = readdirSync('src').filter(
      (name) => !page.includes(`\`${name}${name.endsWith('.ts') ? '' : '/'}\``),
    );
    expect(missing).toEqual([]);
  });

  it('has a walk through the life of a task: 25 files at most, each used by one before it', () => {
    const walk = [...text('ARCHITECTURE.md').matchAll(/^\d+\. `(src\/[^`]+)`/gm)].map((match) => match[1]!);
    expect(walk[0]).toBe('src/main.ts');
    expect(walk.at(-1)).toBe('src/merge/merge.ts');
    expect(walk.length).toBeLessThanOrEqual(25);
    const lost = walk.filter(
      (file, n) => n > 0 && !walk.slice(0, n).some((from) => importsOf(from).includes(file)),
    );
    expect(lost).toEqual([]);
  });

  it('has an architecture page that names only files that are there', () => {
    const named = [...text('ARCHITECTURE.md').matchAll(/`((?:src\/)?[a-z][\w/-]*\.ts)`/g)].map(
      (match) => match[1]!,
    );
    const gone = named.filter(
      (name) =>
        !sources.some((file) => file === name || file.endsWith(`/${name}`)) &&
        !statSync(name, { throwIfNoEntry: false }),
    );
    expect(gone).toEqual([]);
  });
});

function unitOf(file: string): string {
  return file.split('/')[1]!.replace(/\.ts$/, '');
}

function rowOf(unit: string): number {
  const row = ROWS.findIndex((units) => units.includes(unit));
  if (row < 0)
    throw new Error(`${unit} has no row: say in test/tidy.test.ts and ARCHITECTURE.md where it stands`);
  return row;
}

function importsOf(file: string): string[] {
  const found = [...text(file).matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)];
  return found.map((match) => path.join(path.dirname(file), match[1]!));
}

/** What Node loads before anything runs, with who asks for it first: types are erased, and `import()` waits. */
function loadedWith(
  entries: string[],
  replaced: ReadonlyMap<string, string> = new Map(),
): Map<string, string> {
  const loaded = new Map(entries.map((entry) => [entry, 'the command']));
  for (const [file] of loaded)
    for (const [, target] of text(file).matchAll(/^(?:import|export) (?!type\b)[^;]*?from '(\.[^']+)';/gm)) {
      const plain = path.join(path.dirname(file), target!.split('?')[0]!); // what Vite is told comes after the ?
      const found = replaced.get(plain) ?? plain;
      if (!loaded.has(found)) loaded.set(found, file);
    }
  return loaded;
}

function files(directory: string): string[] {
  return readdirSync(directory, { recursive: true })
    .map((name) => path.join(directory, String(name)))
    .filter((file) => !file.includes('node_modules') && statSync(file).isFile());
}

function tracked(): string[] {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    encoding: 'utf8',
  });
  return listed
    .split('\n')
    .filter((file) => file !== '' && statSync(file, { throwIfNoEntry: false })?.isFile());
}

/** Good enough for this tree, where no text holds what looks like one. */
function withoutComments(source: string): string {
  return source.replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/ .*$/gm, '');
}

function text(file: string): string {
  return readFileSync(file, 'utf8');
}
