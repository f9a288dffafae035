/** Every code of vLLM's findings and of the general ones is in docs/findings.md, and what is there is in the code. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const filesIn = (folder: string, recursive = false) =>
  readdirSync(folder, { withFileTypes: true, recursive }).flatMap((f) =>
    f.isFile() ? [`${f.parentPath}/${f.name}`] : [],
  );
const textOf = (file: string) => readFileSync(file, 'utf8');
const sources = [
  'src/planner.ts',
  ...['src/planner', 'src/core/engines', 'src/core/engines/vllm'].flatMap((f) => filesIn(f)),
];
const CODE = /(?:\bcode: |\b(?:finding|refusal|refuse|at)\(\s*)'([a-z]+(?:-[a-z]+)+|unresolved|approximate)'/g;
const CHOICE = /'([a-z]+-[a-z-]+)' : '([a-z]+-[a-z-]+)',\n\s+'(?:error|warning|information|hint)'/g;

test('docs/findings.md names every code', () => {
  const used = new Set(
    sources
      .map(textOf)
      .flatMap((text) => [
        ...[...text.matchAll(CODE)].map(([, code]) => code as string),
        ...[...text.matchAll(CHOICE)].flatMap(([, a, b]) => [a as string, b as string]),
      ]),
  );
  const rows = textOf('docs/findings.md').matchAll(/^\| (`[^|]*) \|/gm);
  const told = [...rows].flatMap(([, cell]) => [...(cell as string).matchAll(/`([a-z-]+)`/g)].map(([, code]) => code));
  expect(used.size).toBeGreaterThan(50);
  expect([...used].filter((code) => !told.includes(code))).toEqual([]);
  const all = ['src/planner.ts', ...filesIn('src/planner'), ...filesIn('src/core', true)].map(textOf).join('\n');
  expect(told.filter((code) => !all.includes(`'${code}'`))).toEqual([]);
});
