/** Arrangements that vLLM refuses before it has a layout: said with the place and, where there is one, the nearest that works. */
import { expect, test } from 'vitest';
import { config, deepseek, kv, llama8 } from './rows';
import { compose, found, planOf, textAt, withFix } from './support';

const given = {
  flags: kv('20GiB'),
  configs: { 'a/model': config({ num_attention_heads: 24, num_key_value_heads: 8 }) },
};
const own = '--model=a/model';

test.each([
  [
    'tp-does-not-divide-heads',
    [own, '--tensor-parallel-size=5'],
    [own, '--tensor-parallel-size=4'],
    /attention heads \(24\) must be divisible by tensor parallel size \(5\)/,
    '5',
    '4',
  ],
  [
    'tp-does-not-divide-kv-heads',
    [own, '--tensor-parallel-size=12'],
    [own, '--tensor-parallel-size=24'],
    /^8 KV heads can neither be divided by tensor parallel size 12/,
    '12',
    undefined,
  ],
  [
    'pp-above-layers',
    [own, '--pipeline-parallel-size=17'],
    [own, '--pipeline-parallel-size=16'],
    /17 pipeline stages need at least as many layers; the model has 16/,
    '17',
    undefined,
  ],
  [
    'dcp-does-not-divide-tp',
    [deepseek, '--tensor-parallel-size=8', '--decode-context-parallel-size=3'],
    [deepseek, '--tensor-parallel-size=8', '--decode-context-parallel-size=4'],
    /must be divisible by decode context parallel size \(3\)/,
    '3',
    undefined,
  ],
  [
    'dcp-needs-replicated-heads',
    [llama8, '--tensor-parallel-size=8', '--decode-context-parallel-size=2'],
    [llama8, '--tensor-parallel-size=16', '--decode-context-parallel-size=2'],
    /8 KV heads over 8 GPUs are not/,
    '2',
    undefined,
  ],
  [
    'bad-value',
    [own, '--gpu-memory-utilization=1.7'],
    [own, '--gpu-memory-utilization=0.7'],
    /vLLM will not take this/,
    '1.7',
    undefined,
  ],
] as const)('%s', (code, has, hasNot, says, at, value) => {
  const text = compose(has);
  const plan = planOf(text, given);
  const finding = found(plan, code);
  expect(finding?.message).toMatch(says);
  expect(finding?.severity).toBe('error');
  expect(finding && textAt(text, finding)).toBe(at);
  expect([plan.planned, plan.starts === true]).toEqual([false, false]);
  expect(found(planOf(compose(hasNot), given), code)).toBeUndefined();
  const [fix] = finding?.fixes ?? [];
  expect(fix?.value).toBe(value);
  expect(fix && found(planOf(withFix(plan, text, fix), given), code)).toBeUndefined();
});
