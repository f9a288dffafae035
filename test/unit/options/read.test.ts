import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { OptionSpec } from '../../../src/core/engines/option';
import { findOption } from '../../../src/core/engines/option-find';
import { readOptionValue } from '../../../src/core/engines/option-read';
import { readHumanInt, VLLM_OPTIONS } from '../../../src/core/engines/vllm/options';

function spec(name: string): OptionSpec {
  const found = findOption(VLLM_OPTIONS, name);
  if (!found || 'ambiguous' in found) {
    throw new Error(name);
  }
  return found.spec;
}

const read = (name: string, text: string) => {
  const reading = readOptionValue(spec(name), text);
  return 'value' in reading ? reading.value : reading.error;
};

describe('readOptionValue', () => {
  it.each([
    ['max-num-seqs', '256', 256],
    ['max-num-seqs', ' 1_000 ', 1000],
    ['max-num-seqs', '+010', 10],
    ['max-num-seqs', '1__0', 'max-num-seqs must be a whole number, not "1__0"'],
    ['max-num-seqs', '0x10', 'max-num-seqs must be a whole number, not "0x10"'],
    ['max-num-seqs', '256.0', 'max-num-seqs must be a whole number, not "256.0"'],
    ['max-num-seqs', '1k', 'max-num-seqs must be a whole number, not "1k"'],
    ['max-num-seqs', '', 'max-num-seqs must be a whole number, not ""'],
    ['max-num-seqs', '0', 'max-num-seqs must be at least 1, not 0'],
    ['max-num-seqs', '99999999999999999999', 'max-num-seqs is too large'],
    ['tensor-parallel-size', '-1', 'tensor-parallel-size must be at least 1, not -1'],
    ['port', '70000', 'port must be between 0 and 65535, not 70000'],
    ['long-prefill-token-threshold', '-0', 0],
  ])('int: %s %j → %j', (name, text, expected) => expect(read(name, text)).toBe(expected));

  it.each([
    ['gpu-memory-utilization', '0.9', 0.9],
    ['gpu-memory-utilization', '.95', 0.95],
    ['gpu-memory-utilization', '9e-1', 0.9],
    ['gpu-memory-utilization', '1', 1],
    ['gpu-memory-utilization', '1.7', 'gpu-memory-utilization must be above 0 and at most 1, not 1.7'],
    ['gpu-memory-utilization', '0', 'gpu-memory-utilization must be above 0 and at most 1, not 0'],
    ['gpu-memory-utilization', '90%', 'gpu-memory-utilization must be a number, not "90%"'],
    ['gpu-memory-utilization', '0,9', 'gpu-memory-utilization must be a number, not "0,9"'],
    ['gpu-memory-utilization', 'nan', 'gpu-memory-utilization must be a number, not "nan"'],
    ['watermark', '0', 0],
    ['watermark', '1', 'watermark must be at least 0 and below 1, not 1'],
    ['cpu-offload-gb', '1_0.5', 10.5],
  ])('float: %s %j → %j', (name, text, expected) => expect(read(name, text)).toBe(expected));

  it.each([
    ['max-model-len', 'auto', 'auto'],
    ['max-model-len', 'AUTO', 'auto'],
    ['max-model-len', '-1', 'auto'],
    ['max-model-len', '-2', 'max-model-len must be at least 1, not -2'],
    ['max-model-len', 'banana', 'max-model-len must be a whole number such as 32768, 32k or 32K, not "banana"'],
    ['max-model-len', '1.5K', 'max-model-len takes no decimals with K (powers of 1024): did you mean 1.5k?'],
    ['kv-cache-memory-bytes', 'None', null],
    ['kv-cache-memory-bytes', '', null],
    [
      'max-num-batched-tokens',
      'auto',
      'max-num-batched-tokens must be a whole number such as 32768, 32k or 32K, not "auto"',
    ],
    ['dtype', 'half', 'half'],
    ['dtype', 'fp16', 'dtype must be one of auto, half, float16, bfloat16, float, float32, not "fp16"'],
    ['enable-prefix-caching', '', true],
    ['enable-prefix-caching', 'False', false],
    ['enable-prefix-caching', 'yes', 'enable-prefix-caching is a flag and takes no value, not "yes"'],
    ['model', ' a b ', ' a b '],
    ['compilation-config', '3', 3],
    ['optimization-level', '4', 'optimization-level must be between 0 and 3, not 4'],
  ])('%s %j → %j', (name, text, expected) => expect(read(name, text)).toBe(expected));

  it.each([
    ['hf-overrides', '{"a": {"b": [1]}}', { a: { b: [1] } }],
    ['hf-overrides', '3', 'hf-overrides must be a JSON object, such as {"key": 1}, not 3'],
    ['hf-overrides', 'null', 'hf-overrides must be a JSON object, such as {"key": 1}, not null'],
    ['hf-overrides', '', 'hf-overrides is not valid JSON: it is empty'],
    ['hf-overrides', "{'a': 1}", 'hf-overrides is not valid JSON: strings need double quotes'],
    ['limit-mm-per-prompt', 'image=4,video=1', { image: 4, video: 1 }],
    ['limit-mm-per-prompt', '{"image": 4}', { image: 4 }],
    ['allowed-origins', '["*"]', ['*']],
    ['served-model-name', ' a  b ', ['a', 'b']],
    ['cudagraph-capture-sizes', '1 2 4', [1, 2, 4]],
    ['cudagraph-capture-sizes', '1,2', 'cudagraph-capture-sizes must be whole numbers with spaces between, not "1,2"'],
  ])('%s %j → %j', (name, text, expected) => expect(read(name, text)).toEqual(expected));

  it('says where JSON breaks off', () => {
    expect(read('speculative-config', '{"method": "mtp",')).toMatch(/^speculative-config is not valid JSON: .+/);
  });

  it('never throws and gives either a value or a sentence that names the option', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...VLLM_OPTIONS),
        fc.oneof(fc.string(), fc.json(), fc.double().map(String)),
        (o, text) => {
          const reading = readOptionValue(o, text);
          expect('value' in reading || reading.error.startsWith(`${o.name} `)).toBe(true);
        },
      ),
    );
  });
});

describe('readHumanInt', () => {
  it.each([
    ['32k', 32_000],
    ['32K', 32_768],
    ['1.5k', 1500],
    ['25.6k', 25_600],
    ['1m', 1e6],
    ['1M', 1_048_576],
    ['2g', 2e9],
    ['2G', 2_147_483_648],
    ['1.5t', 1.5e12],
    ['1T', 1_099_511_627_776],
    ['0.0015k', 1],
    [' 4096 ', 4096],
    ['131_072', 131_072],
  ])('%j → %j', (text, expected) => expect(readHumanInt(text)).toEqual({ value: expected }));

  it.each(['1.5K', '1.5', '-1k', '32kb', '32 k', 'k', '1e3', '', '1_0k', '9999999T'])('%j is refused', (text) =>
    expect(readHumanInt(text)).toHaveProperty('error'),
  );

  it('is taken by the five options that vLLM lists, and no other', () => {
    const accepting = VLLM_OPTIONS.filter((o) => o.type === 'human-int');
    expect(accepting.map((o) => o.name).sort()).toEqual([
      'kv-cache-memory-bytes',
      'max-model-len',
      'max-num-batched-tokens',
      'max-num-scheduled-tokens',
      'safetensors-prefetch-block-size',
    ]);
    expect(accepting.map((o) => readOptionValue(o, '32K'))).toEqual(accepting.map(() => ({ value: 32_768 })));
    const numbers = VLLM_OPTIONS.filter((o) => o.type === 'int' || o.type === 'float');
    expect(numbers.filter((o) => 'value' in readOptionValue(o, '32k'))).toEqual([]);
  });
});
