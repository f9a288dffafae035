import { describe, expect, it } from 'vitest';
import type { OptionSpec } from '../../../src/core/engines/option';
import { findOption, optionIndex } from '../../../src/core/engines/option-find';
import { VLLM_OPTIONS } from '../../../src/core/engines/vllm/options';

/** `name`, with `no-` before a negated flag, `…` after an abbreviation, and the path. */
function found(flag: string, version?: string): string {
  const result = findOption(VLLM_OPTIONS, flag, version);
  if (!result) {
    return 'unknown';
  }
  if ('ambiguous' in result) {
    return `one of ${result.ambiguous.join(' ')}`;
  }
  const name = `${result.negated ? 'no-' : ''}${result.spec.name}${result.abbreviated ? '…' : ''}`;
  return [
    name,
    ...(result.path ?? []),
    ...(result.append ? ['+'] : []),
    ...(result.attached ? [`= ${result.attached}`] : []),
  ].join(' ');
}

describe('findOption', () => {
  it.each([
    ['--max-model-len', 'max-model-len'],
    ['--max_model_len', 'max-model-len'],
    ['--max-model_len', 'max-model-len'],
    ['max_model_len', 'max-model-len'],
    ['--Max-Model-Len', 'unknown'],
    ['---max-model-len', 'unknown'],
    ['--dcp-kv-cache-interleave-size', 'cp-kv-cache-interleave-size'],
    ['--max-model', 'max-model-len…'],
    ['--gpu-mem', 'gpu-memory-utilization…'],
    ['--kv_cache_dt', 'one of --kv-cache-dtype --kv-cache-dtype-skip-layers'],
    ['--tensor-parallel-size', 'tensor-parallel-size'],
    ['--tp', 'unknown'],
    ['--', 'unknown'],
    ['', 'unknown'],
  ])('long %s → %s', (flag, expected) => expect(found(flag)).toBe(expected));

  it.each([
    ['-tp', 'tensor-parallel-size'],
    ['-pp', 'pipeline-parallel-size'],
    ['-dp', 'data-parallel-size'],
    ['-dcp', 'decode-context-parallel-size'],
    ['-ep', 'enable-expert-parallel'],
    ['-q', 'quantization'],
    ['-qawq', 'quantization = awq'],
    ['-t', 'tensor-parallel-size…'],
    ['-tp4', 'unknown'],
    ['-O3', 'compilation-config = 3'],
    ['-O', 'compilation-config'],
    ['-O.mode', 'compilation-config mode'],
    ['-O{"a": 1.5}', 'compilation-config = {"a": 1.5}'],
    ['-', 'unknown'],
    ['-tp.x', 'unknown'],
  ])('short %s → %s', (flag, expected) => expect(found(flag)).toBe(expected));

  it('names what an ambiguous short form could be', () => {
    expect(found('-d')).toMatch(/^one of -dp -dcp -dpn .*-dpm -dc$/);
  });

  it.each([
    ['--no-enable-prefix-caching', 'no-enable-prefix-caching'],
    ['--no_enable_prefix_caching', 'no-enable-prefix-caching'],
    ['--no-enable-pre', 'no-enable-prefix-caching…'],
    ['--no-max-model-len', 'unknown'],
  ])('negated %s → %s', (flag, expected) => expect(found(flag)).toBe(expected));

  it.each([
    ['--speculative-config.method', 'speculative-config method'],
    ['--speculative_config.draft_model.x_y', 'speculative-config draft_model x_y'],
    ['--compilation-config.cudagraph_capture_sizes+', 'compilation-config cudagraph_capture_sizes +'],
    ['--hf-over.rope_theta', 'hf-overrides… rope_theta'],
    ['--max-model-len.x', 'unknown'],
  ])('dotted %s → %s', (flag, expected) => expect(found(flag)).toBe(expected));

  it('counts for an abbreviation only what the version has', () => {
    expect(found('--swap-space', '0.28')).toBe('swap-space');
    expect(found('--swap', '0.28')).toBe('unknown');
    expect(found('--swap', '0.17')).toBe('swap-space…');
    expect(found('--prefix-cach', '0.28')).toMatch(/^one of/);
    expect(found('--prefix-cach', '0.20')).toBe('prefix-caching-hash-algo…');
  });

  it('builds the index of a table once', () => {
    expect(optionIndex(VLLM_OPTIONS)).toBe(optionIndex(VLLM_OPTIONS));
  });

  it('knows two forms of one option from two options', () => {
    const base = { type: 'int', defaults: [], summary: '', source: '' } as const;
    const one: readonly OptionSpec[] = [{ ...base, name: 'size-of-x', aliases: ['size-of-xs'] }];
    const two: readonly OptionSpec[] = [...one, { ...base, name: 'size-of-y' }];
    expect(findOption(one, '--size')).toEqual({ spec: one[0], negated: false, abbreviated: true });
    expect(findOption(two, '--size')).toEqual({ ambiguous: ['--size-of-x', '--size-of-xs', '--size-of-y'] });
  });
});
