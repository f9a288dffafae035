import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  availability,
  compareVersions,
  defaultOf,
  type OptionSpec,
  type OptionValue,
} from '../../../src/core/engines/option';
import { optionDocs } from '../../../src/core/engines/option-docs';
import { findOption } from '../../../src/core/engines/option-find';
import { readOptionValue } from '../../../src/core/engines/option-read';
import { VLLM_ENVIRONMENT } from '../../../src/core/engines/vllm/environment';
import { VLLM_OPTIONS } from '../../../src/core/engines/vllm/options';
import { rulesOf, VLLM_VERSIONS } from '../../../src/core/engines/vllm/versions';

const rows = [...VLLM_OPTIONS, ...VLLM_ENVIRONMENT];

function spec(name: string): OptionSpec {
  const found = VLLM_OPTIONS.find((o) => o.name === name);
  if (!found) {
    throw new Error(name);
  }
  return found;
}

function asWritten(value: OptionValue, { type }: OptionSpec): string {
  if (type === 'list' && Array.isArray(value)) {
    return value.join(' ');
  }
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

describe('the vLLM table', () => {
  it('gives every name, alias and short form once', () => {
    const names = rows.flatMap((o) => [o.name, ...(o.aliases ?? []), ...(o.short ?? [])]);
    expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
  });

  it('has no flag whose name is the negation of another', () => {
    const clash = VLLM_OPTIONS.filter((o) => o.type === 'flag' && VLLM_OPTIONS.some((p) => p.name === `no-${o.name}`));
    expect(clash).toEqual([]);
  });

  it('has defaults that the option itself takes, in the order of versions', () => {
    for (const option of rows) {
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
    for (const option of rows) {
      expect(option.type === 'enum', option.name).toBe((option.values ?? []).length > 0);
      const known = new Set([...(option.values ?? []), ...(option.words ?? [])]);
      expect(
        Object.keys(option.valuesSince ?? {}).filter((v) => !known.has(v)),
        option.name,
      ).toEqual([]);
      expect(
        [option.summary, option.effect ?? 'None.'].filter((s) => !/^\S.*\.$/.test(s)),
        option.name,
      ).toEqual([]);
      expect(option.source, option.name).toMatch(/^vllm\/[\w/]+\.py, \d+\.\d+/);
    }
  });

  it('lists the flags a serving command is likely to hold', () => {
    const flags =
      '--model --host --port --served-model-name --api-key --chat-template --trust-remote-code --download-dir --tokenizer --tool-call-parser --enable-auto-tool-choice --reasoning-parser --disable-log-requests --enable-log-requests --uvicorn-log-level --seed --revision --load-format --disable-log-stats --swap-space --cpu-offload-gb --kv-transfer-config --compilation-config -O --enable-sleep-mode --attention-backend --generation-config --limit-mm-per-prompt --mm-processor-kwargs --ssl-keyfile --root-path --allowed-origins --response-role --distributed-executor-backend --enforce-eager --max-log-len --enable-lora --lora-modules --data-parallel-size-local --data-parallel-address --data-parallel-rpc-port --headless --api-server-count --config';
    expect(flags.split(' ').filter((flag) => !findOption(VLLM_OPTIONS, flag))).toEqual([]);
  });

  it('has the defaults that the rules of each version plan with', () => {
    for (const version of VLLM_VERSIONS) {
      const rules = rulesOf(version);
      expect(defaultOf(spec('gpu-memory-utilization'), version)?.value, version).toBe(rules.utilisation);
      expect(defaultOf(spec('enable-prefix-caching'), version)?.value, version).toBe(rules.core === 'V1');
    }
  });

  it('is what the committed page shows (node scripts/make-from-engines.mjs writes it)', () => {
    const page = readFileSync(new URL('../../../docs/options-vllm.md', import.meta.url), 'utf8');
    expect(page).toBe(optionDocs({ engine: 'vLLM', options: VLLM_OPTIONS, environment: VLLM_ENVIRONMENT }));
  });
});

describe('versions', () => {
  it.each([
    ['0.9', '0.10', -1],
    ['0.10', '0.10.0', 0],
    ['0.10.1.1', '0.10.1', 1],
    ['v0.8.5.post1', '0.8.5', 0],
    ['0.11.0rc2', '0.11', 0],
    ['0.11.0+cu129', '0.11.1', -1],
    ['main', '0.28', 1],
    ['0.28', 'nightly', -1],
    ['main', 'nightly', 0],
  ])('%s against %s: %i', (a, b, order) => {
    expect(compareVersions(a, b)).toBe(order);
    expect(compareVersions(b, a) + order).toBe(0);
  });

  it.each([
    ['gpu-memory-utilization', '0.20.1', 0.9],
    ['gpu-memory-utilization', '0.21.0', 0.92],
    ['enable-prefix-caching', '0.6.6', false],
    ['enable-prefix-caching', '0.8.0', true],
    ['swap-space', '0.8.5', 4],
    ['block-size', '0.28', 16],
    ['max-num-seqs', '0.6.6', 256],
    ['max-num-seqs', '0.10', undefined],
    ['prefix-caching-hash-algo', '0.10.2', 'sha256'],
  ])('default of %s in %s: %j', (name, version, value) => expect(defaultOf(spec(name), version)?.value).toBe(value));

  it.each([
    ['swap-space', '0.17.1', undefined, 'ok'],
    ['swap-space', '0.18.0', undefined, { until: '0.18' }],
    ['watermark', '0.22', undefined, { since: '0.23' }],
    ['watermark', '0.23', undefined, 'ok'],
    ['kv-cache-memory-bytes', '0.10.1.1', undefined, { since: '0.10.2' }],
    ['kv-cache-dtype', '0.8.5', 'nvfp4', { since: '0.20' }],
    ['kv-cache-dtype', '0.8.5', 'fp8', 'ok'],
    ['max-model-len', '0.13', 'auto', { since: '0.14' }],
    ['max-model-len', '0.13', 4096, 'ok'],
  ])('%s in %s with %j: %j', (name, version, value, expected) =>
    expect(availability(spec(name), version, value)).toEqual(expected),
  );
});
