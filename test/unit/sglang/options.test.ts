import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { compareVersions, type OptionSpec, type OptionValue } from '../../../src/core/engines/option';
import { optionDocs } from '../../../src/core/engines/option-docs';
import { findOption } from '../../../src/core/engines/option-find';
import { readOptionValue } from '../../../src/core/engines/option-read';
import { takesText } from '../../../src/core/engines/option-text';
import { sglang } from '../../../src/core/engines/sglang';
import { readLaunches } from '../../../src/launch';

const { options, environment = [], versions } = sglang;
const rows = [...options, ...environment];

const spec = (name: string): OptionSpec => rows.find((o) => o.name === name) as OptionSpec;

const asWritten = (value: OptionValue): string => (typeof value === 'object' ? JSON.stringify(value) : String(value));

describe('the SGLang table', () => {
  it('gives every name and alias once, and no flag is another one’s negation', () => {
    const names = rows.flatMap((o) => [o.name, ...(o.aliases ?? [])]);
    expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
    expect(names.filter((name) => names.includes(`no-${name}`))).toEqual([]);
  });

  it('has defaults that the option itself takes, values for enums, sentences and sources', () => {
    for (const option of rows) {
      for (const { value } of option.defaults) {
        if (value !== undefined && value !== null) {
          expect(readOptionValue(option, asWritten(value)), option.name).toEqual({ value });
        }
      }
      expect(option.type === 'enum', option.name).toBe((option.values ?? []).length > 0);
      expect(option.summary, option.name).toMatch(/^[A-Z].*\.$/s);
      expect(option.effect ?? 'A.', option.name).toMatch(/^[A-Z].*\.$/s);
      expect(option.source, option.name).toMatch(/^sglang\/srt\/[\w/]+\.py, \d/);
      if (option.since && option.until) {
        expect(compareVersions(option.since, option.until)).toBeLessThan(0);
      }
    }
  });

  it.each([
    ['--tp', 'tp-size'],
    ['--tensor-parallel-size', 'tp-size'],
    ['--model', 'model-path'],
    ['--dp', 'dp-size'],
    ['--cuda-graph-max-bs', 'cuda-graph-max-bs-decode'],
    ['--mamba-scheduler-strategy', 'mamba-radix-cache-strategy'],
    ['--nsa-prefill-backend', 'dsa-prefill-backend'],
  ])('%s is %s', (flag, name) => expect(findOption(options, flag)).toMatchObject({ spec: { name } }));
});

describe('its page and versions', () => {
  it('are the table’s, oldest first', () => {
    expect([...versions].sort(compareVersions)).toEqual(versions);
    const page = readFileSync(new URL('../../../docs/options-sglang.md', import.meta.url), 'utf8');
    expect(page).toBe(optionDocs({ engine: 'SGLang', options, environment }));
  });
});

describe('whole numbers with a suffix', () => {
  it.each([
    ['32768', 32768],
    ['32k', 32000],
    ['1.5k', 1500],
    ['32Ki', 32768],
    ['1M', 1_000_000],
    ['1Mi', 1_048_576],
  ])('%s is %d', (text, value) => expect(readOptionValue(spec('context-length'), text)).toEqual({ value }));

  it.each(['32K', '32m', '1.5Ki', '32ki', 'auto'])('%s is none', (text) => {
    expect(readOptionValue(spec('max-total-tokens'), text)).toHaveProperty('error');
  });

  it('is said so', () => expect(takesText(spec('context-length'))).toContain('32k or 32Ki'));
});

describe('what starts SGLang', () => {
  const command = (words: string, image = 'lmsysorg/sglang:v0.5.5.post3-cu129-amd64') =>
    readLaunches({
      text: `services:\n  s:\n    image: ${image}\n    command: ${words}\n`,
      name: 'compose.yaml',
    }).launches[0];

  it.each([
    ['python3 -m sglang.launch_server --model-path org/m --tp 2', 'org/m'],
    ['python3 -m sglang.launch_server --model=org/m', 'org/m'],
    ['sglang serve org/m --tp-size 2', 'org/m'],
    ['python -m sglang_router.launch_server --model-path org/m --dp-size 4', 'org/m'],
    ['bash -c "pip list && exec python3 -m sglang.launch_server --model org/m"', undefined],
  ])('%s', (words, model) => {
    const launch = command(words);
    if (model === undefined) {
      // A script inside needs the shell's grammar, which is not loaded here.
      expect(launch).toBeUndefined();
    } else {
      expect(launch).toMatchObject({ engine: 'sglang', model: { text: model }, version: { text: '0.5.5.post3' } });
    }
  });

  it('tells prefill and decode servers', () => {
    const role = (mode: string) => command(`sglang serve org/m --disaggregation-mode ${mode}`)?.role;
    expect([role('prefill'), role('decode'), role('null')]).toEqual(['prefill', 'decode', 'serve']);
  });

  it('a file of options alone', () => {
    const text =
      'model-path: org/m\ntp-size: 2\nmem_fraction_static: 0.9\nmax-running-requests: 64\nlog-requests: true\n';
    const [launch] = readLaunches({ text, name: 'server.yaml' }).launches;
    expect(launch).toMatchObject({ engine: 'sglang', model: { text: 'org/m' } });
    expect(launch?.options.map((o) => [o.name, o.value])).toEqual([
      ['model-path', 'org/m'],
      ['tp-size', 2],
      ['mem-fraction-static', 0.9],
      ['max-running-requests', 64],
      ['log-requests', true],
    ]);
  });
});
