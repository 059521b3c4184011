/**
 * Makes dist/cli of src: the same program in a few large files, which start in a third of the time of some hundred small
 * ones. What tsc made in dist stays beside it: the library, the threads and the types come from there.
 */
import path from 'node:path';
import { rolldown, type CodeSplittingGroup, type RolldownOutput } from 'rolldown';

const ROOT = path.resolve(import.meta.dirname, '..');
export const SRC = path.join(ROOT, 'src');

/** `out` is the `cli` of a directory in which each file of src has its own, as tsc would have written it. */
export async function bundle(out: string): Promise<void> {
  const output = await bundled(
    out,
    [path.join(SRC, 'main.ts')],
    [
      group('tools', 5, ['crew/tool-server']),
      group('quick', 4, ['doors/cli/cli', 'doors/cli/commands/status', 'operations/status']),
      group('detach', 3, ['doors/cli/detach']),
      // What the engine and `bosun mcp` have in common, of which only one needs the other's code.
      { name: 'zod', priority: 2.6, test: /[\\/]node_modules[\\/]zod[\\/]/ },
      group('schemas', 2.5, ['contract/outputs']),
      group('look', 2, ['doors/cli/commands/attach', 'operations/attach']),
      group('engine', 1, [
        'doors/cli/commands/run',
        'doors/cli/commands/resume',
        'operations/check',
        'operations/run',
        'contract/check-event',
      ]),
    ],
  );
  const quick = output.flatMap((each) =>
    each.type === 'chunk' && each.name === 'quick' ? each.moduleIds : [],
  );
  const library = quick.find((id) => id.includes(`${path.sep}node_modules${path.sep}`));
  if (quick.length === 0 || library !== undefined)
    throw new Error(`bosun status must be quick, but imports ${library}: take that import out of its way`);
}

/** Programs that are made of src, in a directory beside its files, as with `bundle`. */
export async function bundled(
  out: string,
  input: string[],
  groups: CodeSplittingGroup[],
): Promise<RolldownOutput['output']> {
  await using made = await rolldown({
    input,
    platform: 'node',
    // Loaded by name when they are needed, or not ours to bring.
    external: ['string-width', 're2js', '@anthropic-ai/claude-agent-sdk'],
    plugins: [
      { name: 'places', transform: (code, id) => withPlaces(code, id) },
      { name: 'builtins', renderChunk: (code) => withoutFacades(code) },
    ],
    // zod only asks whether this is a Cloudflare worker, and Node takes a while to make it.
    transform: { define: { navigator: 'undefined' } },
  });
  const { output } = await made.write({
    dir: out,
    format: 'esm',
    // Of a .js file Node has to look for the package.json that says what it is.
    entryFileNames: '[name].mjs',
    chunkFileNames: '[name]-[hash].mjs',
    codeSplitting: { groups },
  });
  return output;
}

/** One file of these and all that they import, but for what a group of a higher priority has. */
function group(name: string, priority: number, files: string[]): CodeSplittingGroup {
  const ids = new Set(files.map((file) => path.join(SRC, `${file}.ts`)));
  return { name, priority, test: (id) => ids.has(id) };
}

/** A file that asks where it is gets the place that tsc gave it: paths to other parts of the package start from there. */
function withPlaces(code: string, id: string): string | null {
  if (!id.startsWith(`${SRC}${path.sep}`) || !code.includes('import.meta.')) return null;
  const own = path.join('..', path.relative(SRC, id)).replace(/\.ts$/, '.js');
  const resolved = (file: string): string =>
    `globalThis.process.getBuiltinModule('node:path').resolve(import.meta.dirname, ${JSON.stringify(file)})`;
  return code
    .replaceAll('import.meta.dirname', resolved(path.dirname(own)))
    .replaceAll('import.meta.filename', resolved(own))
    .replaceAll('import.meta.url', `new URL(${JSON.stringify(own)}, import.meta.url).href`);
}

/** To import a module of Node reads every one of its exports, and loads what the unused ones need. */
function withoutFacades(code: string): string {
  return code.replaceAll(
    /^import (?:([\w$]+)(?:, )?)?(?:\{ ([^}]*) \})? from "(node:[\w/]+)";$/gm,
    (_, whole: string | undefined, names: string | undefined, module: string) => {
      // A library may import `process` by that name: then it is not there yet.
      const taken = `globalThis.process.getBuiltinModule("${module}")`;
      const parts = [whole, names && `{ ${names.replaceAll(' as ', ': ')} }`].filter(Boolean);
      return parts.map((part) => `const ${part} = ${taken};`).join(' ');
    },
  );
}

if (import.meta.main) await bundle(path.join(ROOT, 'dist', 'cli'));
