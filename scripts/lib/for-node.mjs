/**
 * How a bundle for Node is built, whoever builds it: what ships is what the benches measure.
 * @satisfies {import('esbuild').BuildOptions}
 */
export const FOR_NODE = {
  bundle: true,
  platform: /** @type {const} */ ('node'),
  format: /** @type {const} */ ('cjs'),
  target: 'node20',
  mainFields: ['module', 'main'],
  alias: {
    // Its module build asks for `import.meta.url`, which a CommonJS bundle has not.
    'web-tree-sitter': './node_modules/web-tree-sitter/tree-sitter.cjs',
    // The same code as modules. Its build for Node asks the environment for a switch at each token, a quarter of the time.
    yaml: './node_modules/yaml/browser/index.js',
  },
};
