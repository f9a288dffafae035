/** Single readings in tables: YAML types, shell words, files beside, names and forms, lines. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of shells
import { describe, expect, test } from 'vitest';
import { optionOf } from '../../../src/launch/launch';
import { linesOf } from '../../../src/launch/lines';
import { bash, type Given, picture, read } from './support';

/** The value of one option, `!` before an error and `?` before a reason. */
async function optionIn(text: string, name: string, option: string, given: Given = {}): Promise<unknown> {
  const { launches } = read(text, name, { grammars: await bash(), ...given });
  const found = launches[0] && optionOf(launches[0], option);
  if (found?.unresolved !== undefined) {
    return `? ${found.unresolved}`;
  }
  return found?.error === undefined ? found?.value : `! ${found.error}`;
}

// What `yaml.safe_load` of PyYAML 6 makes of a plain scalar, and `str()` of that.
test.each([
  ['8192', 8192],
  ['8_192', 8192],
  ['010', 8],
  ['0x10', 16],
  ['0b11', 3],
  ['1:30', 90],
  ['+5', 5],
  ['"16"', 16],
  ["'16'", 16],
  ['16 # c', 16],
  ['!!str 16', 16],
  ['09', 9],
  ['1e4', expect.stringMatching(/^! .*"1e4"/)],
  ['1.0', expect.stringMatching(/^! .*"1\.0"/)],
  ['1.0e+2', expect.stringMatching(/^! /)],
  ['~', expect.stringMatching(/^! .*"None"/)],
  ['', expect.stringMatching(/^! .*"None"/)],
  ['null', expect.stringMatching(/^! .*"None"/)],
  ['yes', '! max-num-seqs expects a value'],
  ['off', undefined],
  ['y', expect.stringMatching(/^! .*"y"/)],
])('config YAML: max-num-seqs: %s', async (written, expected) => {
  expect(await optionIn(`max-num-seqs: ${written}\nmax-model-len: 1\n`, 'c.yaml', 'max-num-seqs')).toEqual(expected);
});

test.each([
  ['enforce-eager: true', true],
  ['enforce-eager: On', true],
  ['enforce-eager: NO', false],
  ['no-enforce-eager: true', false],
  ['no-enforce-eager: false', undefined],
  ['enforce-eager: "true"', expect.stringMatching(/^! /)],
  ['enforce-eager: y', expect.stringMatching(/^! /)],
])('config YAML: %s', async (line, expected) => {
  expect(await optionIn(`${line}\nmax-model-len: 1\n`, 'c.yaml', 'enforce-eager')).toEqual(expected);
});

// One option, written in the ways shells allow.
test.each<[string, unknown]>([
  ['--max-num-seqs 4', 4],
  ['--max-num-seqs=4', 4],
  ['--max_num_seqs 4', 4],
  ['--max-num-se 4', 4],
  ["--max-num-seqs '4'", 4],
  ['--max-num-seqs "4"', 4],
  ['--max-num-seqs \\4', 4],
  ["--max-num-seqs $'4'", 4],
  ['--max-num-seqs="4"', 4],
  ['"--max-num-seqs=4"', 4],
  ['--max-num-seqs 1"2"\'3\'', 123],
  ['--max-num-seqs \\\n 4', 4],
  ['--max-num-seqs \\\r\n 4', 4],
  ['--max-num-seqs 3 --max-num-seqs 4', 4],
  ['--max-num-seqs ${N:-4}', 4],
  ['--max-num-seqs ${N-4}', 4],
  ['--max-num-seqs ${N:=4}', 4],
  ['--max-num-seqs ${N:-${M:-4}}', 4],
  ['--max-num-seqs ${N:-"4"}', 4],
  ['${N:---max-num-seqs 4}', 4],
  ['--max-num-seqs $((2 * (1 + 1)))', 4],
  ['--max-num-seqs `nproc`', '? `nproc` is the output of a command'],
  ['--max-num-seqs $N', '? N is not set in this file'],
  ['--max-num-seqs 1$N', '? N is not set in this file'],
  ['--max-num-seqs ${N:?must be set}', '? N is not set in this file'],
  ['--max-num-seqs $3', '? $3 is what the script is called with'],
  ['${N:+--max-num-seqs 4}', '? only when N is set'],
  ['--max-num-seqs', '! --max-num-seqs expects a value'],
  ['--max-num-seqs --enforce-eager', '! --max-num-seqs expects a value'],
  ['--max-num-seqs -1', expect.stringMatching(/^! /)],
  ['> --max-num-seqs', undefined],
  ['--max-num-seqs 4 > log', 4],
  ['2>&1 --max-num-seqs 4', 4],
  ['| tee --max-num-seqs 4', undefined],
  ['&& echo --max-num-seqs 4', undefined],
  ['; --max-num-seqs 4', undefined],
  ['# --max-num-seqs 4', undefined],
])('shell: vllm serve m %s', async (words, expected) => {
  expect(await optionIn(`vllm serve m ${words}\n`, 'x.sh', 'max-num-seqs')).toEqual(expected);
});

test.each([
  ['N=4\n', 4],
  ['export N=4\n', 4],
  ['declare -i N=4\n', 4],
  ['N="4"\nM=$N\nN=$M\n', 4],
  ['N=3\nN=4\n', 4],
  ['N=3\nif a; then N=4; fi\n', '? N is set differently in branches'],
  ['if a; then N=4; else N=4; fi\n', 4],
  ['case $1 in a) N=4;; *) N=5;; esac\n', '? N is set differently in branches'],
  ['N=${1:-4}\n', 4],
  ['N=$1\n', '? $1 is what the script is called with'],
  ['read N\n', '? N is read when the script runs'],
  ['source ./vars.env\n', 4],
  ['set -a; . vars.env\n', 4],
  ['(N=4)\n', '? N is not set in this file'],
])('shell variable: %s', async (before, expected) => {
  const given = { files: { 'vars.env': '# c\nexport N="4" # d\n' } };
  expect(await optionIn(`${before}vllm serve m --max-num-seqs $N\n`, 'x.sh', 'max-num-seqs', given)).toEqual(expected);
});

test.each([
  ['${N}', { '.env': 'N=4' }, 4],
  ['$N', { '.env': 'N=4' }, 4],
  ['${N:-3}', { '.env': 'N=4' }, 4],
  ['${N:-3}', {}, 3],
  ['${N-3}', { '.env': 'N=' }, expect.stringMatching(/^! /)],
  ['${N:-${M:-5}}', {}, 5],
  ['${N}', {}, '? N is not set in the files at hand'],
  ['$$N', {}, expect.stringMatching(/^! .*"\$N"/)],
])('compose: --max-num-seqs %s with %o', async (written, files, expected) => {
  const text = `services:\n  a:\n    image: vllm/vllm-openai\n    command: --max-num-seqs ${written}\n`;
  expect(await optionIn(text, 'compose.yaml', 'max-num-seqs', { files: files as Record<string, string> })).toEqual(
    expected,
  );
});

describe('files beside', () => {
  const command = 'vllm serve --config engine.yaml --max-num-seqs 8 --max-model-len 100\n';
  const files = { 'engine.yaml': 'model: org/m\nmax-num-seqs: 4\nblock-size: 32\n' };

  test('the command wins over the file; what the file says is placed at its name', async () => {
    const [launch] = read(command, 'x.sh', { grammars: await bash(), files }).launches;
    expect(launch && optionOf(launch, 'max-num-seqs')?.value).toBe(8);
    const fromFile = launch && optionOf(launch, 'block-size');
    expect(fromFile).toMatchObject({
      value: 32,
      from: { file: 'engine.yaml', line: 3 },
      line: 1,
    });
    expect(fromFile?.valueRange).toBeUndefined();
    expect(command.slice(fromFile?.range.start, fromFile?.range.end)).toBe('--config engine.yaml');
    expect(launch?.model?.text).toBe('org/m');
  });

  test('a file that was not fetched is asked for', async () => {
    const { readLaunches } = await import('../../../src/launch');
    const result = readLaunches({ text: command, name: 'x.sh', grammars: await bash() });
    expect(result.needs.files).toEqual(['engine.yaml']);
    expect(result.launches).toHaveLength(1);
  });

  test('`--config=FILE` is not what the engine looks for', async () => {
    expect(await optionIn('vllm serve m --config=engine.yaml\n', 'x.sh', 'block-size', { files })).toBeUndefined();
  });

  test('env_file', async () => {
    const text = 'services:\n  a:\n    image: vllm/vllm-openai\n    env_file: [gpu.env]\n    environment: {B: "2"}\n';
    const { launches } = read(text, 'compose.yaml', { files: { 'gpu.env': 'CUDA_VISIBLE_DEVICES=0,1\nB=1\n' } });
    expect(launches[0]?.hardware.count?.value).toBe(2);
    expect(launches[0]?.environment.get('B')).toBe('2');
  });
});

test.each<[string, string, string]>([
  ['compose.yaml', 'services: {a: {image: vllm/vllm-openai}}', 'compose'],
  ['stack.yml', '# c\nservices:\n  a: {image: vllm/vllm-openai}\n', 'compose'],
  [
    'pod.json',
    '{"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"image": "vllm/vllm-openai"}]}}',
    'kubernetes',
  ],
  ['-', 'vllm serve m', 'shell'],
  ['-', 'max-model-len: 1\nmax-num-seqs: 2\n', 'vllm-config'],
  ['start', '#!/usr/bin/env bash\nvllm serve m', 'shell'],
  ['x.yaml', '\uFEFFservices:\n  a: {image: vllm/vllm-openai}\n', 'compose'],
])('%s: %s is %s', async (name, text, form) => {
  expect(read(text, name, { grammars: await bash() }).launches.map((l) => l.form)).toEqual([form]);
});

test.each([
  // A remark in backticks is none between quotes, nor within a word.
  ["vllm serve 'm`#'\\''`am' --seed 1", "m`#'`am"],
  ["vllm serve 'm `#'\\''` am' --seed 1", "m `#'` am"],
  ["vllm serve `# it's small` 'm`#'\\''`am' --seed 1", "m`#'`am"],
])('backticks and signs of comments: %s', async (text, model) => {
  expect(await optionIn(`${text}\n`, 'x.sh', 'model')).toBe(model);
  expect(await optionIn(`${text}\n`, 'x.sh', 'seed')).toBe(1);
});

test('roles', async () => {
  const role = async (more: string) =>
    read(`vllm serve m ${more}`, 'x.sh', { grammars: await bash() }).launches[0]?.role;
  expect(await role(`--kv-transfer-config '{"kv_role":"kv_producer"}'`)).toBe('prefill');
  expect(await role(`--kv-transfer-config '{"kv_role":"kv_consumer"}'`)).toBe('decode');
  expect(await role(`--kv-transfer-config '{"kv_role":"kv_both"}'`)).toBe('serve');
});

test('lines: columns in UTF-16 units, every line end', () => {
  const text = 'a\n😀b\r\nc\rd';
  const lines = linesOf(text);
  expect([0, 1, 2, 4, 5, 7, 8, 9, 10].map((o) => lines.position(o))).toEqual(
    [
      [1, 1],
      [1, 2],
      [2, 1],
      [2, 3],
      [2, 4],
      [3, 1],
      [3, 2],
      [4, 1],
      [4, 2],
    ].map(([line, column]) => ({ line, column })),
  );
  for (let offset = 0; offset <= text.length; offset++) {
    expect(lines.offset(lines.position(offset))).toBe(offset);
  }
});

test('the picture of a text without launches is empty', () => {
  expect(picture('', read('', 'x.sh'))).toBe('\n');
});

test('lone carriage returns end lines, in place', async () => {
  const text = 'services:\r  a:\r    image: vllm/vllm-openai:v0.28.0\r    command: --model m --max-model-len 8192\r';
  const [launch] = read(text, 'compose.yaml').launches;
  const length = launch && optionOf(launch, 'max-model-len');
  expect(length?.valueRange && text.slice(length.valueRange.start, length.valueRange.end)).toBe('8192');
  expect(await optionIn('#!/bin/bash\rvllm serve m \\\r  --max-model-len 4096\r', 'serve.sh', 'max-model-len')).toBe(
    4096,
  );
});
