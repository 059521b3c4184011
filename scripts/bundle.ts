/**
 * Makes dist/cli of src: the same program in a few large files, which start in half the time of some hundred small ones.
 * What tsc made in dist stays beside it: the library, the threads and the types come from there.
 */
import path from 'node:path';
import { rolldown } from 'rolldown';

const ROOT = path.resolve(import.meta.dirname, '..');
export const SRC = path.join(ROOT, 'src');

/** `out` is the `cli` of a directory in which each file of src has its own, as tsc would have written it. */
export async function bundle(out: string): Promise<void> {
  await using made = await rolldown({
    input: { main: path.join(SRC, 'main.ts') },
    platform: 'node',
    // Loaded by name when they are needed, or not ours to bring.
    external: ['string-width', 're2js', '@anthropic-ai/claude-agent-sdk'],
    plugins: [{ name: 'places', transform: (code, id) => withPlaces(code, id) }],
  });
  await made.write({
    dir: out,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
  });
}

/** A file that asks where it is gets the place that tsc gave it: paths to other parts of the package start from there. */
function withPlaces(code: string, id: string): string | null {
  if (!id.startsWith(`${SRC}${path.sep}`) || !code.includes('import.meta.')) return null;
  const own = path.join('..', path.relative(SRC, id)).replace(/\.ts$/, '.js');
  const resolved = (file: string): string =>
    `process.getBuiltinModule('node:path').resolve(import.meta.dirname, ${JSON.stringify(file)})`;
  return code
    .replaceAll('import.meta.dirname', resolved(path.dirname(own)))
    .replaceAll('import.meta.filename', resolved(own))
    .replaceAll('import.meta.url', `new URL(${JSON.stringify(own)}, import.meta.url).href`);
}

if (import.meta.main) await bundle(path.join(ROOT, 'dist', 'cli'));
