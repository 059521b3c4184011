/** How the page is made of web/: into dist/web, each file but the document with the hash of what is in it. */
import path from 'node:path';
import { defineConfig } from 'vite';

const HERE = import.meta.dirname;
const REACT = path.resolve(HERE, 'app/react.ts');

export default defineConfig({
  root: HERE,
  base: '/',
  publicDir: false,
  logLevel: 'warn',
  resolve: {
    alias: [
      // The engine fills the scopes of items in with a language of expressions; to show them takes far less.
      { find: /^.*\/workflow\/item-scope\.ts$/, replacement: path.resolve(HERE, 'data/item-scope.ts') },
      // Preact in its place, which weighs 60 kB less: half of what the page may weigh.
      { find: /^react(-dom(\/client)?)?$/, replacement: REACT },
    ],
  },
  build: {
    outDir: path.resolve(HERE, '../dist/web'),
    emptyOutDir: true,
    target: 'es2024',
    // light-dark() and nested rules as they are.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // The policy of the page takes no data: address for anything but pictures.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // One file of each kind: it weighs less than many, and nothing is waited for when a view or a dialog opens.
    cssCodeSplit: false,
    rolldownOptions: {
      output: { codeSplitting: false },
      transform: { inject: { createElement: [REACT, 'createElement'], Fragment: [REACT, 'Fragment'] } },
    },
    reportCompressedSize: false,
    // A kilobyte and a half less than the minifier that is built in.
    minify: 'terser',
    terserOptions: {
      module: true,
      ecma: 2020,
      compress: { passes: 3, unsafe_arrows: true, pure_getters: true, keep_fargs: false },
    },
  },
  // The classic way, with children as arguments, weighs 1 kB less.
  oxc: {
    jsx: { runtime: 'classic', pragma: 'createElement', pragmaFrag: 'Fragment', development: false },
  },
  define: { 'process.env.NODE_ENV': JSON.stringify('production') },
  worker: {
    format: 'es',
    rolldownOptions: { output: { minify: true } },
  },
});
