import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readLaunches } from '../../../src/launch';
import { editOption } from '../../../src/launch/edit';
import { planText } from '../../../src/planner';

const SAMPLE = readFileSync('samples/tensorrt-llm/config.pbtxt', 'utf8');
const read = (text: string, name = 'config.pbtxt') => readLaunches({ text, name }).launches;

describe('config.pbtxt of Triton', () => {
  it('is an engine of TensorRT-LLM, with what it sets and nothing of what a template leaves open', () => {
    const [launch] = read(SAMPLE);
    expect([launch?.engine, launch?.form, launch?.title, launch?.hardware.count?.value]).toEqual([
      'tensorrt-llm',
      'triton',
      'tensorrt_llm',
      2,
    ]);
    expect(launch?.options.map((o) => [o.name, o.value, o.line])).toEqual([
      ['backend', 'tensorrtllm', 4],
      ['max_batch_size', 64, 5],
      ['gpt_model_type', 'inflight_fused_batching', 14],
      ['gpu_device_ids', '0,1', 26],
      ['kv_cache_free_gpu_memory_fraction', 0.85, 38],
      ['kv_cache_config.host_cache_size', 17179869184, 44],
      ['kv_cache_config.enable_block_reuse', true, 50],
      ['scheduler_config.capacity_scheduler_policy', 'max_utilization', 56],
    ]);
  });

  it('every value stands where it says', () => {
    for (const o of read(SAMPLE)[0]?.options ?? []) {
      expect(o.valueRange && SAMPLE.slice(o.valueRange.start, o.valueRange.end), o.name).toBe(o.raw);
    }
  });

  it('a value is changed between its quotes', () => {
    const [launch] = read(SAMPLE);
    const [edit] = launch ? editOption(launch, SAMPLE, 'kv_cache_free_gpu_memory_fraction', '0.9') : [];
    const text = edit ? SAMPLE.slice(0, edit.range.start) + edit.text + SAMPLE.slice(edit.range.end) : '';
    expect(read(text)[0]?.options.find((o) => o.name === 'kv_cache_free_gpu_memory_fraction')?.value).toBe(0.9);
    expect(launch && editOption(launch, SAMPLE, 'max_seq_len', '4096')).toEqual([]);
  });

  it('one line for a parameter, comments, other backends', () => {
    const one =
      'backend: "tensorrtllm"\n# parameters { key: "max_attention_window_size" value: { string_value: "1" } }\nparameters { key: "max_attention_window_size" value: { string_value: "4096,1024" } }\n';
    expect(read(one)[0]?.options.at(-1)?.value).toEqual([4096, 1024]);
    expect(read(one)[0]?.options).toHaveLength(2);
    expect(read('name: "x"\nbackend: "python"\n')).toEqual([]);
    expect(read('')).toEqual([]);
  });

  it('is planned as an engine over the GPUs it lists', () => {
    const [plan] = planText({ text: SAMPLE, name: 'config.pbtxt' }, {}).plans;
    expect([plan?.planned, plan?.placement?.tensor, plan?.kv?.layout.bytesPerToken.value]).toEqual([true, 2, 65536]);
    expect(plan?.findings.map((f) => f.code)).toEqual(['approximate', 'scheduler-policy', 'share-of-free']);
  });
});
