// Bundles: the extension for a Node host and for a web worker host, the webview, the command line.
// `node esbuild.mjs` builds all; `--watch` keeps building; `--only cli,webview` builds some.
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as esbuild from 'esbuild';
import { FOR_NODE } from './scripts/lib/for-node.mjs';

const args = process.argv.slice(2);
const watch = args.includes('--watch');
const only = args.includes('--only') ? args[args.indexOf('--only') + 1]?.split(',') : undefined;

/** @type {esbuild.BuildOptions & { metafile: true }} */
const shared = {
  bundle: true,
  minify: !watch,
  sourcemap: watch ? 'linked' : false,
  legalComments: 'none',
  charset: 'utf8', // signs as they are: half as long as escaped
  metafile: true,
  logLevel: 'warning',
  mainFields: ['module', 'main'],
  loader: { '.wgsl': 'text' },
};
/** @type {typeof shared} */
const node = { ...shared, ...FOR_NODE };
/** @type {typeof shared} */
const browser = {
  ...shared,
  platform: 'browser',
  target: 'es2022',
  mainFields: ['browser', 'module', 'main'],
  external: ['fs/promises', 'module'], // web-tree-sitter imports these where it runs in Node
  logOverride: { 'empty-import-meta': 'silent' }, // and is given its WebAssembly, so needs no address
};

/** What a host loads at its first launch file only, as a file of its own. */
const LAZY = 'src/lazy.ts';
/** @type {esbuild.Plugin} */
const lazyApart = {
  name: 'lazy apart',
  setup(build) {
    build.onResolve({ filter: /\/lazy$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: './lazy.js', external: true } : undefined,
    );
  },
};

/** The loader of a web worker host takes one file: another module stands there, which fetches the bundle. @type {esbuild.Plugin} */
const lazyFetched = {
  name: 'lazy fetched',
  setup(build) {
    build.onResolve({ filter: /\/lazy$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: path.resolve('src/editor/lazy-web.ts') } : undefined,
    );
  },
};

/** @type {Record<string, typeof shared>} */
const bundles = {
  extension: {
    ...node,
    entryPoints: ['src/extension.ts'],
    outfile: 'dist/extension.js',
    external: ['vscode'],
    supported: { 'dynamic-import': false }, // becomes require(): works in every Node host alike
    plugins: [lazyApart],
  },
  lazy: { ...node, entryPoints: [LAZY], outfile: 'dist/lazy.js', external: ['vscode'] },
  web: {
    ...browser,
    format: 'cjs',
    entryPoints: ['src/extension.ts'],
    outfile: 'dist/web/extension.js',
    external: ['vscode', ...(browser.external ?? [])],
    plugins: [lazyFetched],
  },
  'web-lazy': {
    ...browser,
    format: 'cjs',
    entryPoints: [LAZY],
    outfile: 'dist/web/lazy.js',
    external: ['vscode', ...(browser.external ?? [])],
  },
  webview: { ...browser, format: 'iife', entryPoints: ['webview/main.ts'], outfile: 'dist/webview/main.js' },
  // What the page runs beside itself: fetched when it is first needed.
  'pool-worker': {
    ...browser,
    format: 'iife',
    entryPoints: ['webview/pool/worker.ts'],
    outfile: 'dist/webview/pool-worker.js',
  },
  'bench-worker': {
    ...browser,
    format: 'iife',
    entryPoints: ['webview/bench/worker.ts'],
    outfile: 'dist/webview/bench-worker.js',
  },
  'prefix-worker': {
    ...browser,
    format: 'iife',
    entryPoints: ['webview/prefix/worker.ts'],
    outfile: 'dist/webview/prefix-worker.js',
  },
  cli: { ...node, entryPoints: ['src/cli/main.ts'], outfile: 'dist/cli.js', banner: { js: '#!/usr/bin/env node' } },
};

/** The parsers of launch files, loaded when the first file that needs one is read. */
const GRAMMARS = [
  'node_modules/web-tree-sitter/tree-sitter.wasm',
  'node_modules/@vscode/tree-sitter-wasm/wasm/tree-sitter-bash.wasm',
  'node_modules/@vscode/tree-sitter-wasm/wasm/tree-sitter-python.wasm',
];

mkdirSync('dist/meta', { recursive: true });
for (const file of GRAMMARS) {
  copyFileSync(file, path.join('dist', path.basename(file)));
}
/** Tells the editor's watch task when a build begins and ends. @type {esbuild.Plugin} */
const progress = {
  name: 'progress',
  setup(build) {
    build.onStart(() => console.log('[watch] build started'));
    build.onEnd(() => console.log('[watch] build finished'));
  },
};

const chosen = Object.entries(bundles).filter(([name]) => !only || only.includes(name));
await Promise.all(
  chosen.map(async ([name, options]) => {
    if (watch) {
      return (await esbuild.context({ ...options, plugins: [...(options.plugins ?? []), progress] })).watch();
    }
    const { metafile } = await esbuild.build(options);
    writeFileSync(`dist/meta/${name}.json`, JSON.stringify(metafile));
  }),
).catch(() => {
  process.exitCode = 1; // esbuild has said why
});
