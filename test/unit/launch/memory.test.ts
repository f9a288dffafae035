/** A text is read once, and anew when anything that it depends on is another one. */
import { expect, test } from 'vitest';
import { readLaunches } from '../../../src/launch';
import { bash, read } from './support';

// biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of compose
const COMPOSE = 'services:\n  a:\n    image: vllm/vllm-openai\n    command: --model ${MODEL} --max-num-seqs 4\n';

test('the same text gives the same answer, without another reading', () => {
  const files = { '.env': 'MODEL=org/m\n' };
  const first = read(COMPOSE, 'compose.yaml', { files });
  expect(first.launches[0]?.model?.text).toBe('org/m');
  expect(read(COMPOSE, 'compose.yaml', { files: { ...files } })).toBe(first);
});

test('files that are looked at by turns are kept, and what is typed in one of them is not', () => {
  const command = (n: number) => COMPOSE.replace('4', String(n));
  const [a, b] = [read(command(1), 'a.compose.yaml'), read(command(1), 'b.compose.yaml')];
  expect(read(command(1), 'a.compose.yaml')).toBe(a);
  const typed = [2, 3, 4].map((n) => read(command(n), 'a.compose.yaml'));
  expect(read(command(1), 'b.compose.yaml')).toBe(b);
  // Asked for twice: what an edit is tried on, while its outcomes come and go.
  expect(read(command(1), 'a.compose.yaml')).toBe(a);
  expect(read(command(4), 'a.compose.yaml')).toEqual(typed[2]);
  expect(read(command(2), 'a.compose.yaml')).not.toBe(typed[0]);
});

test('another name, form or file is another reading', () => {
  const first = read(COMPOSE, 'compose.yaml', { files: { '.env': 'MODEL=org/m\n' } });
  expect(read(COMPOSE, 'compose.yaml', { files: { '.env': 'MODEL=org/n\n' } }).launches[0]?.model?.text).toBe('org/n');
  expect(read(COMPOSE, 'other.compose.yaml', { files: { '.env': 'MODEL=org/m\n' } })).not.toBe(first);
  expect(read(COMPOSE, 'compose.yaml', { form: 'kubernetes' }).launches).toEqual([]);
  expect(read(COMPOSE, 'compose.yaml', {}).launches).toHaveLength(1);
});

test('what is still to be fetched is asked for again, until it is there', async () => {
  const text = 'vllm serve org/m --config engine.yaml\n';
  const asked = () => readLaunches({ text, name: 'x.sh' });
  expect([asked().needs.grammars, asked().needs.grammars]).toEqual([['bash'], ['bash']]);
  const grammars = await bash();
  expect(readLaunches({ text, name: 'x.sh', grammars }).needs.files).toEqual(['engine.yaml']);
  const files = { read: () => 'max-num-seqs: 7\n' };
  expect(readLaunches({ text, name: 'x.sh', grammars, files }).launches[0]?.options.map((o) => o.value)).toContain(7);
});

test('an edit of one document leaves the others as they were', () => {
  const pod = (n: number) =>
    `apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - {name: a, image: vllm/vllm-openai, args: [--max-num-seqs=${n}]}\n`;
  const all = (ns: readonly number[]) =>
    read(ns.map(pod).join('---\n'), 'pods.yaml').launches.map((l) => l.options.map((o) => [o.value, o.line]));
  expect(all([1, 22, 3])).toEqual([[[1, 5]], [[22, 11]], [[3, 17]]]);
  expect(all([1, 4, 3])).toEqual([[[1, 5]], [[4, 11]], [[3, 17]]]);
});
