/** Directives written into files: read back for that launch, and nothing else changes. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { editDirective } from '../../../src/launch/directive-edit';
import type { TextEdit } from '../../../src/launch/edit';
import type { Launch } from '../../../src/launch/launch';
import { bash, read } from './support';

const folder = fileURLToPath(new URL('../../fixtures/launch/', import.meta.url));
const fixtures = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((f) => /\.(?:sh|ya?ml)$/.test(f));

const apply = (text: string, [edit]: readonly TextEdit[]): string =>
  edit ? text.slice(0, edit.range.start) + edit.text + text.slice(edit.range.end) : text;

const said = ({ directives }: Launch) => Object.fromEntries(directives.map(({ key, value }) => [key, value]));
const options = (launches: readonly Launch[]) => launches.map((l) => l.options.map((o) => [o.name, o.raw, o.error]));

test.each(fixtures)('%s', async (name) => {
  const text = readFileSync(folder + name, 'utf8');
  const grammars = await bash();
  const { launches } = read(text, name, { grammars });
  for (const [i, launch] of launches.entries()) {
    const edits = editDirective({ launch, launches }, text, 'gpu', 'L40S 48GB');
    if (edits.length === 0) {
      continue; // the last test says where that may be
    }
    const after = read(apply(text, edits), name, { grammars }).launches;
    expect(options(after)).toEqual(options(launches));
    after.forEach((l, j) => {
      const before = said(launches[j] as Launch);
      expect(said(l)).toEqual(i === j ? { ...before, gpu: 'L40S 48GB' } : before);
    });
  }
});

const shell = (text: string, name = 'serve.sh') =>
  bash().then((grammars) => ({ text, launches: read(text, name, { grammars }).launches }));

test.each<[string, string, string]>([
  [
    'above the launch, indented as it is',
    'if x; then\n  vllm serve m\nfi\n',
    'if x; then\n  # kv-planner: gpu=L4\n  vllm serve m\nfi\n',
  ],
  [
    'on the line of its directives',
    '# kv-planner: prompt=9\nvllm serve m\n',
    '# kv-planner: prompt=9 gpu=L4\nvllm serve m\n',
  ],
  ['over what it says', '# kv-planner: gpu="H100 80GB"\nvllm serve m\n', '# kv-planner: gpu=L4\nvllm serve m\n'],
  ['with the file’s line ends', 'set -e\r\nvllm serve m\r\n', 'set -e\r\n# kv-planner: gpu=L4\r\nvllm serve m\r\n'],
])('%s', async (_, text, expected) => {
  const { launches } = await shell(text);
  const launch = launches[0] as Launch;
  expect(apply(text, editDirective({ launch, launches }, text, 'gpu', 'L4'))).toBe(expected);
});

test('a directive that two launches share stays', async () => {
  const { text, launches } = await shell('# kv-planner: gpu=H100-80GB\n\nvllm serve m\nvllm serve n\n');
  const launch = launches[1] as Launch;
  const edited = apply(text, editDirective({ launch, launches }, text, 'gpu', 'L4'));
  expect(edited).toBe('# kv-planner: gpu=H100-80GB\n\nvllm serve m\n# kv-planner: gpu=L4\nvllm serve n\n');
});

test('JSON has no comments', () => {
  const text = '{"services":{"a":{"image":"vllm/vllm-openai","command":"--model m"}}}';
  const { launches } = read(text, 'compose.json');
  expect(launches).toHaveLength(1);
  expect(editDirective({ launch: launches[0] as Launch, launches }, text, 'gpu', 'L4')).toEqual([]);
});
