import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { lmdeploy } from '../../../src/core/engines/lmdeploy';
import { compareVersions, type OptionSpec, type OptionValue } from '../../../src/core/engines/option';
import { optionDocs } from '../../../src/core/engines/option-docs';
import { findOption } from '../../../src/core/engines/option-find';
import { readOptionValue } from '../../../src/core/engines/option-read';
import { tensorrtLlm } from '../../../src/core/engines/tensorrt-llm';
import { tgi } from '../../../src/core/engines/tgi';

const asWritten = (value: OptionValue, { type }: OptionSpec): string =>
  type === 'flag' && value === true ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);

describe.each([tensorrtLlm, lmdeploy, tgi])('the table of $title', ({ id, title, options, versions }) => {
  it('gives every name, alias, short form and variable once', () => {
    const names = options.flatMap((o) => [o.name, ...(o.aliases ?? []), ...(o.short ?? [])]);
    const variables = options.flatMap((o) => o.env ?? []);
    const twice = (all: readonly string[]) => all.filter((name, i) => all.indexOf(name) !== i);
    expect([...twice(names), ...twice(variables)]).toEqual([]);
  });

  it('has defaults that the option itself takes, in the order of versions', () => {
    for (const option of options) {
      expect(option.defaults, option.name).not.toEqual([]);
      for (const { value } of option.defaults) {
        if (value !== undefined && value !== null) {
          expect(readOptionValue(option, asWritten(value, option)), option.name).toEqual({ value });
        }
      }
      const since = option.defaults.map((d) => d.since ?? '0');
      expect([...since].sort(compareVersions), option.name).toEqual(since);
    }
  });

  it('is written with care: values for enums, whole sentences, sources with a version', () => {
    for (const option of options) {
      expect(option.type === 'enum', option.name).toBe((option.values ?? []).length > 0);
      expect(
        [option.summary, option.effect ?? 'None.'].filter((s) => !/^\S.*\.$/.test(s)),
        option.name,
      ).toEqual([]);
      expect(option.source, option.name).toMatch(/\.(py|rs|pbtxt), \d+\.\d+/);
    }
  });

  it('knows the option of every role that a launch can be moved by', () => {
    for (const role of ['model', 'max-length', 'memory-share', 'kv-dtype', 'tensor', 'max-sequences', 'batch-tokens']) {
      expect(
        options.some((o) => o.role === role),
        role,
      ).toBe(true);
    }
  });

  it('lists versions oldest first, and has a page that is the table', () => {
    expect([...versions].sort(compareVersions)).toEqual(versions);
    const page = readFileSync(new URL(`../../../docs/options-${id}.md`, import.meta.url), 'utf8');
    expect(page).toBe(optionDocs({ engine: title, options, environment: [] }));
  });
});

describe('names with underscores and dots', () => {
  it.each([
    ['--tp_size', 'tensor_parallel_size'],
    ['--tensor-parallel-size', 'tensor_parallel_size'],
    ['--kv_cache_config.dtype', 'kv_cache_dtype'],
    ['--kv_cache_config.enable_block_reuse', 'kv_cache_config.enable_block_reuse'],
    ['--free_gpu_memory_fraction', 'kv_cache_free_gpu_memory_fraction'],
  ])('%s', (flag, name) => {
    const found = findOption(tensorrtLlm.options, flag);
    expect(found && 'spec' in found && found.spec.name).toBe(name);
  });

  it('a key of a JSON option stays one', () => {
    const found = findOption(tensorrtLlm.options, '--speculative_config.max_draft_len');
    expect(found).toMatchObject({ path: ['max_draft_len'] });
  });
});
