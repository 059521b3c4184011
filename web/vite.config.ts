/** How the page is made of web/: into dist/web, each file but the document with the hash of what is in it. */
import path from 'node:path';
import { defineConfig } from 'vite';

const HERE = import.meta.dirname;

export default defineConfig({
  root: HERE,
  base: '/',
  publicDir: false,
  logLevel: 'warn',
  resolve: {
    alias: [
      // The engine fills the scopes of items in with a language of expressions; to show them takes far less.
      { find: /^.*\/workflow\/item-scope\.ts$/, replacement: path.resolve(HERE, 'data/item-scope.ts') },
      // Does all that the page asks of React in 60 kB less, which is half of what it may weigh.
      { find: 'react-dom/client', replacement: 'preact/compat/client' },
      { find: /^react-dom$/, replacement: 'preact/compat' },
      { find: /^react$/, replacement: 'preact/compat' },
      { find: 'react/jsx-runtime', replacement: 'preact/jsx-runtime' },
    ],
  },
  build: {
    outDir: path.resolve(HERE, '../dist/web'),
    emptyOutDir: true,
    target: 'es2024',
    // The policy of the page takes no data: address for anything but pictures.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // One file of each kind: it weighs less than many, and nothing is waited for when a view or a dialog opens.
    cssCodeSplit: false,
    rolldownOptions: { output: { codeSplitting: false } },
    reportCompressedSize: false,
  },
  // Whoever builds it, such as a test: React's development build does every effect twice.
  oxc: { jsx: { runtime: 'automatic', development: false } },
  define: { 'process.env.NODE_ENV': JSON.stringify('production') },
  worker: { format: 'es' },
});
