/** What the fixtures do not show: where a new option goes, whose file wins, flags that may not be shortened. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: macros of llama-swap
import { describe, expect, test } from 'vitest';
import { editOption } from '../../../src/launch/edit';
import { type Launch, optionOf } from '../../../src/launch/launch';
import { apply } from './edits';
import { readFully } from './support';

const TRT = 'kv_cache_config:\n  dtype: fp8   # smaller\nmax_batch_size: 8\n';

// Text, option, value, and the text afterwards; the file's name says the form.
test.each<[string, string, string, string, string]>([
  ['extra.yaml', TRT, 'max_num_tokens', '4096', `${TRT.trimEnd()}\nmax_num_tokens: 4096\n`],
  [
    'extra.yaml',
    TRT,
    'kv_cache_free_gpu_memory_fraction',
    '0.8',
    'kv_cache_config:\n  dtype: fp8   # smaller\n  free_gpu_memory_fraction: 0.8\nmax_batch_size: 8\n',
  ],
  [
    'extra.yaml',
    'kv_cache_free_gpu_memory_fraction: 0.9\nmax_batch_size: 8\n',
    'kv_cache_config.max_tokens',
    '4096',
    'kv_cache_free_gpu_memory_fraction: 0.9\nmax_batch_size: 8\nkv_cache_config:\n  max_tokens: 4096\n',
  ],
  [
    'model.json',
    '{\r\n  "model": "m",\r\n  "gpu_memory_utilization": 0.5\r\n}\r\n',
    'max-model-len',
    '8192',
    '{\r\n  "model": "m",\r\n  "gpu_memory_utilization": 0.5,\r\n  "max_model_len": 8192\r\n}\r\n',
  ],
  [
    'config.pbtxt',
    'backend: "tensorrtllm"\nmax_batch_size: 8\n',
    'kv_cache_free_gpu_memory_fraction',
    '0.8',
    'backend: "tensorrtllm"\nmax_batch_size: 8\nparameters: {\n  key: "kv_cache_free_gpu_mem_fraction"\n  value: { string_value: "0.8" }\n}\n',
  ],
  [
    'tgi.env',
    'MODEL_ID=m\nNUM_SHARD=2\nMAX_TOTAL_TOKENS=4096\n',
    'max-batch-size',
    '8',
    'MODEL_ID=m\nNUM_SHARD=2\nMAX_TOTAL_TOKENS=4096\nMAX_BATCH_SIZE=8\n',
  ],
  ['Modelfile', 'FROM m\nSYSTEM hi\n', 'num_ctx', '8192', 'FROM m\nPARAMETER num_ctx 8192\nSYSTEM hi\n'],
  [
    'ppo.sh',
    'python3 -m verl.trainer.main_ppo a.rollout.name=vllm a.rollout.gpu_memory_utilization=0.6 trainer.x=1\n',
    'max-num-seqs',
    '64',
    'python3 -m verl.trainer.main_ppo a.rollout.name=vllm a.rollout.gpu_memory_utilization=0.6 a.rollout.max_num_seqs=64 trainer.x=1\n',
  ],
  [
    'llama-swap.yaml',
    'macros: {f: "-ngl 99"}\nmodels:\n  a: {cmd: "llama-server -m a.gguf ${f}"}\n  b: {cmd: "llama-server -m b.gguf ${f}"}\n',
    'ctx-size',
    '4096',
    'macros: {f: "-ngl 99"}\nmodels:\n  a: {cmd: "llama-server -m a.gguf ${f} --ctx-size 4096"}\n  b: {cmd: "llama-server -m b.gguf ${f}"}\n',
  ],
])('%s: %j with %s=%s', async (name, text, option, value, expected) => {
  const [launch] = (await readFully(text, name)).launches;
  const edited = apply(text, editOption(launch as Launch, text, option, value));
  expect(edited).toBe(expected);
  const [after] = (await readFully(edited, name)).launches;
  expect(String(after && optionOf(after, option)?.value)).toBe(value);
});

describe('a file that a command names', () => {
  const value = async (command: string, file: string, option: string) => {
    const [launch] = (await readFully(`${command}\n`, 'x.sh', { files: { 'o.yaml': file } })).launches;
    return launch && optionOf(launch, option)?.value;
  };

  test('SGLang: the words win over the file', async () => {
    const command = 'python -m sglang.launch_server --config o.yaml --context-length 100';
    expect(await value(command, 'context-length: 200\npage-size: 16\n', 'context-length')).toBe(100);
    expect(await value(command, 'context-length: 200\npage-size: 16\n', 'page-size')).toBe(16);
  });

  test('TensorRT-LLM: the file wins, so that a flag is no edit', async () => {
    const text = 'trtllm-serve m --max_batch_size 8 --config=o.yaml\n';
    const [launch] = (await readFully(text, 'x.sh', { files: { 'o.yaml': 'max_batch_size: 64\n' } })).launches;
    expect(launch && optionOf(launch, 'max_batch_size')?.value).toBe(64);
    expect(launch && editOption(launch, text, 'max_batch_size', '4')).toEqual([]);
  });
});

test.each([
  ['llama-server -m m.gguf --ctx-siz 4096', 'ctx-size', undefined],
  ['llama-server -m m.gguf --ctx-size-draft 4096', 'ctx-size', undefined],
  ['llama-server -m m.gguf -c 4096', 'ctx-size', 4096],
  ['text-generation-launcher --model-id m --max-total-tok 4096', 'max-total-tokens', undefined],
  ['trtllm-serve m --max_batch 4', 'max_batch_size', undefined],
  ['lmdeploy serve api_server m --session-le 4096', 'session-len', 4096],
])('beginnings of names: %s', async (command, option, expected) => {
  const [launch] = (await readFully(`${command}\n`, 'x.sh')).launches;
  expect(launch && optionOf(launch, option)?.value).toBe(expected);
});
