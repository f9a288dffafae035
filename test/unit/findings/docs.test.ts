/** Every code of vLLM's findings and of the general ones is in docs/findings.md, and no other. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const filesIn = (folder: string) =>
  readdirSync(folder, { withFileTypes: true }).flatMap((f) => (f.isFile() ? [`${folder}/${f.name}`] : []));
const sources = [
  'src/planner.ts',
  ...['src/planner', 'src/core/engines', 'src/core/engines/vllm'].flatMap(filesIn),
].map((file) => readFileSync(file, 'utf8'));
const CODE = /(?:\bcode: |\b(?:finding|refusal|refuse|at)\(\s*)'([a-z]+(?:-[a-z]+)+|unresolved)'/g;
const CHOICE = /'([a-z]+-[a-z-]+)' : '([a-z]+-[a-z-]+)',\n\s+'(?:error|warning|information|hint)'/g;

test('docs/findings.md names every code', () => {
  const used = new Set(
    sources.flatMap((text) => [
      ...[...text.matchAll(CODE)].map(([, code]) => code as string),
      ...[...text.matchAll(CHOICE)].flatMap(([, a, b]) => [a as string, b as string]),
    ]),
  );
  const rows = readFileSync('docs/findings.md', 'utf8').matchAll(/^\| (`[^|]*) \|/gm);
  const told = [...rows].flatMap(([, cell]) => [...(cell as string).matchAll(/`([a-z-]+)`/g)].map(([, code]) => code));
  expect(used.size).toBeGreaterThan(50);
  expect([...new Set(told)].sort()).toEqual([...used].sort());
});
