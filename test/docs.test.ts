/** What the pages say is tried: examples are run, tables are held against the code, links are followed. */
import { execFile } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { drawScreen } from '../scripts/picture.ts';
import { Bosun } from '../src/doors/library.ts';
import { WorkflowFile } from '../src/contract/workflow.ts';
import { parseWorkflow } from '../src/definition/load.ts';
import { LOGINS, RUNTIMES_BY_NAME } from '../src/runtime/runtimes.ts';
import { COMMANDS } from '../src/doors/cli/table.ts';
import { makeRepository } from './fixtures/repository.ts';

const ROOT = process.cwd();
const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'ARCHITECTURE.md',
  'bench/README.md',
  ...globSync('docs/**/*.md'),
];
const execFileAsync = promisify(execFile);

interface Block {
  /** `docs/cli.md:12` */
  where: string;
  language: string;
  text: string;
  firstLine: string;
}

const blocks = PAGES.flatMap(blocksOf);
const workflows = blocks.filter(({ language, text }) => language === 'yaml' && /^tasks:/m.test(text));

describe('workflows in the pages', () => {
  it('are there, in all three kinds', () => {
    const kinds = new Set(
      workflows.map(({ firstLine }) => /^# (runs|fails)/.exec(firstLine)?.[1] ?? 'checked'),
    );
    expect([...kinds].sort()).toEqual(['checked', 'fails', 'runs']);
  });

  it.each(workflows.filter(isMeantToFail))('$where fails as it says', ({ text, firstLine }) => {
    expect(() => parseWorkflow(text, 'bosun.yaml')).toThrow(firstLine.replace('# fails: ', ''));
  });

  it.each(workflows.filter((block) => !isMeantToFail(block)))('$where is a valid workflow', ({ text }) => {
    expect(parseWorkflow(text, 'bosun.yaml').warnings).toEqual([]);
  });

  it.each(workflows.filter(({ firstLine }) => firstLine === '# runs'))(
    '$where runs to its end',
    async ({ text }) => {
      await using repository = await makeRepository();
      const bosun = new Bosun(repository.path);
      const { finished } = await bosun.run(parseWorkflow(text, 'bosun.yaml').workflow);
      expect((await finished).state, JSON.stringify((await bosun.status()).tasks)).toBe('done');
    },
  );
});

describe('getting started', () => {
  it('works as it is typed there, and prints what is shown', async () => {
    await using repository = await makeRepository();
    const typed = blocks.filter(
      ({ where, language }) => where.startsWith('docs/getting-started.md') && language === 'console',
    );
    const env = {
      ...process.env,
      PATH: `${path.join(ROOT, 'bin')}:${process.env.PATH}`,
      NO_COLOR: '1',
      PAGER: 'cat',
    };
    let count = 0;
    for (const { text, where } of typed) {
      for (const part of text.split(/^\$ /m).slice(1)) {
        const [command, ...shown] = part.trimEnd().split('\n') as [string, ...string[]];
        const { stdout } = await execFileAsync('sh', ['-c', command], { cwd: repository.path, env });
        for (const line of shown) expect(stdout.split('\n'), `${where}: ${command}`).toContain(line);
        count += command.startsWith('bosun ') ? 1 : 0;
      }
    }
    expect(count).toBeGreaterThan(10);
  });
});

describe('the library page', () => {
  const programs = blocks.filter(
    ({ where, language }) => where.startsWith('docs/library.md') && language === 'ts',
  );

  it('has programs whose types are right', async () => {
    await using repository = await makeRepository();
    const files = Object.fromEntries(programs.map(({ text }, n) => [`program-${n}.ts`, resolved(text)]));
    const tsconfig = {
      extends: path.join(ROOT, 'tsconfig.json'),
      compilerOptions: {
        typeRoots: [path.join(ROOT, 'node_modules/@types')],
        rewriteRelativeImportExtensions: false,
      },
      include: ['program-*.ts'],
    };
    await repository.write({
      ...files,
      'package.json': '{"type":"module"}',
      'tsconfig.json': JSON.stringify(tsconfig),
    });
    const tsc = path.join(ROOT, 'node_modules/.bin/tsc');
    const checked = await execFileAsync(tsc, ['-p', '.'], { cwd: repository.path }).catch(
      (error: { stdout: string }) => error,
    );
    expect(checked.stdout.split('\n').filter((line) => line.startsWith('program-'))).toEqual([]);
    expect(programs.length).toBeGreaterThanOrEqual(3);
  });

  it.each(programs)('$where runs, and prints what its comments say', async ({ text }) => {
    await using repository = await makeRepository();
    const program = path.join(path.dirname(repository.path), 'program.ts');
    await writeFile(path.join(path.dirname(repository.path), 'package.json'), '{"type":"module"}');
    await writeFile(program, resolved(text));
    const { stdout } = await execFileAsync(process.execPath, [program], { cwd: repository.path });
    for (const [, said] of text.matchAll(/console\.log\(.*\); \/\/ (.*?)(?: …)?$/gm))
      expect(stdout).toContain(said);
  });
});

describe('the page on the workflow file', () => {
  const { shape } = WorkflowFile;
  const task = inner(shape.tasks);
  const agent = inner(shape.agents);
  const objects: Record<string, z.ZodObject> = {
    Workflow: WorkflowFile,
    Task: task,
    Agent: agent,
    Scope: inner(agent.shape.scope),
    Limits: inner(agent.shape.limits),
    Input: inner(shape.inputs),
    Workspace: inner(shape.workspace),
    Retry: inner(task.shape.retry),
    Approve: inner(task.shape.approve),
    Budget: inner(shape.budget),
    Continuous: inner(task.shape.continuous),
  };

  it.each(Object.entries(objects))(
    'has all fields of %s, and no other, with their defaults',
    (name, schema) => {
      const rows = rowsOf(sectionOf('docs/workflow-file.md', `## ${name}`));
      expect(rows.map(([field]) => unticked(field!))).toEqual(Object.keys(schema.shape));
      for (const [field, , shown] of rows) {
        const given = schema.shape[unticked(field!)] as z.ZodType;
        if (!(given instanceof z.ZodDefault)) continue;
        const value: unknown = given.def.defaultValue;
        expect(`${field}: ${shown}`).toBe(`${field}: \`${JSON.stringify(value).replaceAll('"', '')}\``);
      }
    },
  );
});

describe('the page on runtimes', () => {
  const rows = readFileSync('docs/runtimes.md', 'utf8').split('\n');

  it.each(Object.values(RUNTIMES_BY_NAME))('says how to get $name, and what it speaks', (runtime) => {
    const { name, program, sdk, agents = [], dialects = [] } = runtime;
    const install = (sdk ?? program)?.install.split(' where ')[0];
    const packages = agents.flatMap((agent) => agent.package ?? []);
    const row = rows.find((line) => line.startsWith(`| \`${name}\``));
    const spoken = dialects.map((dialect) => `\`${dialect}\``);
    for (const word of [install ?? '', ...packages, ...spoken]) expect(row).toContain(word);
  });

  it.each(LOGINS)('and that on models say where the login of $program is', ({ program, place, variable }) => {
    const lines = readFileSync('docs/models.md', 'utf8').split('\n');
    const row = lines.find((line) => line.startsWith(`| ${program}, with`)) ?? '';
    const words = [variable ?? '', `\`${place.file}\``, `$${place.variable}`, `~/${place.below}`];
    for (const word of words) expect(row).toContain(word);
  });
});

describe('the page on fences', () => {
  const agent = inner(WorkflowFile.shape.agents);

  it.each([
    ['What a scope gives', inner(agent.shape.scope)],
    ['Limits', inner(agent.shape.limits)],
  ])('has all fields under "%s", and no other', (heading, schema) => {
    const fields = rowsOf(sectionOf('docs/fences.md', `## ${heading}`)).filter(([cell]) =>
      cell!.startsWith('`'),
    );
    const names = fields.map(([cell]) => unticked(cell!));
    expect(names.toSorted(byText)).toEqual(Object.keys(schema.shape).sort(byText));
  });
});

describe('the page on the command line', () => {
  it.each(COMMANDS.map((command) => [command.name, command] as const))(
    'has bosun %s with all its options',
    (name, command) => {
      const section = sectionOf('docs/cli.md', new RegExp(`^### bosun ${name}\\b`));
      const flags = (command.options ?? []).flatMap((option) =>
        option.flags.split(', ').map((flag) => flag.split(' ')[0]!),
      );
      const told = [...section.matchAll(/`(--?[a-z][a-z-]*)/g)].map((match) => match[1]!);
      expect([...new Set(told)].sort()).toEqual([...flags].sort());
    },
  );

  it('has no command that does not exist, and neither has the README', () => {
    const names = COMMANDS.map(({ name }) => name);
    const told = [...text('docs/cli.md').matchAll(/^### bosun ([\w-]+)/gm)].map((match) => match[1]!);
    expect(told).toEqual(names);
    const listed = rowsOf(sectionOf('README.md', '## The ten commands')).map(
      ([command]) => unticked(command!).split(' ')[1]!,
    );
    expect(listed).toHaveLength(10);
    expect(names).toEqual(expect.arrayContaining(listed));
  });
});

describe('the page on limits', () => {
  const limits = rowsOf(text('docs/limits.md')).filter((row) => row.length === 4);

  it.each(limits.map((row) => [row[0]!, row] as const))('is right about %s', (_, [, number, , constant]) => {
    const [, name, file] = /^`(\w+)` in `([^`]+)`$/.exec(constant!)!;
    const [, expression] = new RegExp(`\\b${name}\\b *[:=] *([\\d_][\\d_ *]*)`).exec(text(file!))!;
    expect(amountOf(number!)).toBe(valueOf(expression!));
  });

  it('has many', () => expect(limits.length).toBeGreaterThan(30));
});

describe('the page on troubleshooting', () => {
  const sources = [...globSync('src/**/*.ts'), 'bin/bosun']
    .map(text)
    .join('\n')
    .replaceAll(/\$\{[^}]*\}/g, '…');
  const messages = [...text('docs/troubleshooting.md').matchAll(/^### `(.*)`$/gm)].map((match) => match[1]!);

  it.each(messages)('is about a message that exists: %s', (message) => {
    for (const part of message.split('…'))
      if (part.trim().length > 3) expect(sources.includes(part.trim()), part).toBe(true);
  });
});

describe('links', () => {
  it.each(PAGES)('in %s lead somewhere', (page) => {
    const broken = [...withoutBlocks(page).matchAll(/\]\(([^)\s]+)\)/g)]
      .map((match) => match[1]!)
      .filter((link) => !/^https?:/.test(link) && !leadsSomewhere(page, link));
    expect(broken).toEqual([]);
  });

  it('in the pages of the package lead to what the package brings', () => {
    const { files } = JSON.parse(text('package.json')) as { files: string[] };
    const brought = [...files, 'README.md', 'LICENSE']; // npm adds these two
    const isBrought = (file: string): boolean =>
      brought.some((one) => file === one || file.startsWith(`${one}/`));
    const missing = PAGES.filter(isBrought).flatMap((page) =>
      [...withoutBlocks(page).matchAll(/\]\(([^)\s#]+)[^)\s]*\)/g)]
        .map((match) => match[1]!)
        .filter((link) => !/^https?:/.test(link) && !isBrought(path.join(path.dirname(page), link)))
        .map((link) => `${page}: ${link}`),
    );
    expect(missing).toEqual([]);
  });

  it('to npm scripts and files of the project are right', () => {
    const { scripts } = JSON.parse(text('package.json')) as { scripts: Record<string, string> };
    for (const page of PAGES) {
      for (const [, script] of text(page).matchAll(/npm run ([a-z]+)/g)) {
        if (page.startsWith('docs/')) continue; // those are examples of users' own
        expect(Object.keys(scripts), `${page}: npm run ${script}`).toContain(script);
      }
      for (const [, file] of withoutBlocks(page).matchAll(/`((?:src|test|scripts|schema)\/[\w./-]+)`/g)) {
        expect(existsSync(file!), `${page}: ${file}`).toBe(true);
      }
    }
  });
});

describe('the picture', () => {
  it('shows a run with tasks that are done and tasks that run', () => {
    const picture = text('docs/run.svg');
    expect(picture.match(/>[✓] done</g)?.length).toBeGreaterThanOrEqual(2);
    expect(picture.match(/>● running</g)?.length).toBeGreaterThanOrEqual(2);
  });

  it('is drawn in the colours of the screen, each text in its column, with nothing that could be markup', () => {
    const drawn = drawScreen('a \u001b[32mok\u001b[0m <b>\n\u001b[1;2mstrong', 'x & y');
    expect(drawn).toContain('<title>x &amp; y</title>');
    expect(drawn).toMatch(/<text x="16" y="30.3" textLength="8.4"[^>]*>a<\/text>/);
    expect(drawn).toMatch(/<text x="32.8" [^>]*fill="#8fcf7f">ok<\/text>/);
    expect(drawn).toMatch(/xml:space="preserve">&lt;b&gt;<\/text>/);
    expect(drawn).toMatch(/font-weight="bold" opacity="0.6">strong<\/text>/);
  });
});

/** The object that a field holds, or each of a map of them. */
function inner(schema: unknown): z.ZodObject {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) return inner(schema.unwrap());
  if (schema instanceof z.ZodRecord) return inner(schema.valueType);
  if (schema instanceof z.ZodUnion)
    return inner(schema.options.find((option) => option instanceof z.ZodObject));
  return schema as z.ZodObject;
}

function text(file: string): string {
  return readFileSync(file, 'utf8');
}

function blocksOf(page: string): Block[] {
  const content = text(page);
  return [...content.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map((match) => ({
    where: `${page}:${content.slice(0, match.index).split('\n').length}`,
    language: match[1]!,
    text: match[2]!,
    firstLine: match[2]!.split('\n', 1)[0]!,
  }));
}

function withoutBlocks(page: string): string {
  return text(page).replaceAll(/^```[\s\S]*?^```$/gm, '');
}

function isMeantToFail({ firstLine }: Block): boolean {
  return firstLine.startsWith('# fails: ');
}

/** The package is not built here: its public API is its source. */
function resolved(program: string): string {
  return program.replaceAll("from 'bosun'", `from '${path.join(ROOT, 'src/index.ts')}'`);
}

/** From a heading to the next one of its level or above. */
function sectionOf(page: string, heading: string | RegExp): string {
  const lines = text(page).split('\n');
  const start = lines.findIndex((line) =>
    typeof heading === 'string' ? line === heading : heading.test(line),
  );
  expect(start, `${page} has ${heading}`).toBeGreaterThanOrEqual(0);
  const level = lines[start]!.indexOf(' ');
  const length = lines.slice(start + 1).findIndex((line) => /^#+ /.test(line) && line.indexOf(' ') <= level);
  return lines.slice(start + 1, length === -1 ? undefined : start + 1 + length).join('\n');
}

/** The cells of all rows of tables, without heads. */
function rowsOf(section: string): string[][] {
  const lines = section.split('\n');
  return lines
    .filter((line, n) => line.startsWith('| ') && !/^\| ?-/.test(line) && !/^\| ?-/.test(lines[n + 1] ?? ''))
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    );
}

function byText(a: string, b: string): number {
  return a < b ? -1 : 1;
}

function unticked(cell: string): string {
  return cell.replaceAll('`', '');
}

const UNITS: Record<string, number> = {
  '': 1,
  ms: 1,
  minutes: 60_000,
  KB: 1024,
  MB: 1024 ** 2,
  GB: 1024 ** 3,
};

function amountOf(cell: string): number {
  const [, digits, unit = ''] = /^([\d,]+) ?(\w+)?$/.exec(cell)!;
  return Number(digits!.replaceAll(',', '')) * UNITS[unit]!;
}

/** `4 * 1024 ** 2` */
function valueOf(expression: string): number {
  const power = (factor: string): number =>
    factor
      .split('**')
      .map(numberOf)
      .reduce((base, exponent) => base ** exponent);
  return expression
    .replaceAll('**', '^')
    .split('*')
    .map((factor) => power(factor.replaceAll('^', '**')))
    .reduce((a, b) => a * b);
}

function numberOf(digits: string): number {
  return Number(digits.replaceAll('_', '').trim());
}

function leadsSomewhere(page: string, link: string): boolean {
  const [file, anchor] = link.split('#') as [string, string?];
  const target = file === '' ? page : path.join(path.dirname(page), file);
  if (!existsSync(target)) return false;
  if (anchor === undefined) return true;
  const headings = [...text(target).matchAll(/^#+ (.*)$/gm)].map((match) => slugOf(match[1]!));
  return headings.includes(anchor);
}

function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
}
