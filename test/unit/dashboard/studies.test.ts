/** What the page is sent for its charts, its controls and its comparison: words and numbers of plans, in the protocol's shape. */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { comparisonView } from '../../../src/dashboard/compare-view';
import { controlsView } from '../../../src/dashboard/controls-view';
import { poolPart } from '../../../src/dashboard/pool-part';
import { readParams, readPins, readResult } from '../../../src/dashboard/protocol';
import { studiesView } from '../../../src/dashboard/studies-view';
import type { Grammars } from '../../../src/launch/launch';
import type { Plan } from '../../../src/planner';
import { tryingOn } from '../../../src/planner/alternatives';
import { type WhatIf, whatIf } from '../../../src/what-if';
import type { Changes } from '../../../src/what-if/knobs';
import { studiesOf } from '../../../src/what-if/studies';
import { bash } from '../launch/support';

let grammars: Grammars;
beforeAll(async () => {
  grammars = await bash();
});

const SAMPLE = 'vllm/qwen3-32b.vllm.yaml';

function triedOn(file: string, changes: Changes = {}): { text: string; tried: WhatIf } {
  const text = readFileSync(`samples/${file}`, 'utf8');
  const tried = whatIf({ name: file, text, grammars }, {}, 0, changes);
  if (!tried) {
    throw new Error('no launch');
  }
  return { text, tried };
}

function studied(file: string, changes: Changes = {}) {
  const { text, tried } = triedOn(file, changes);
  return { plan: tried.plan, view: studiesView(tried.plan, studiesOf(tried.plan, tryingOn(text, {}))) };
}

/** As it arrives: what is not in the protocol is gone. */
const sent = <T>(message: T): T => JSON.parse(JSON.stringify(message)) as T;

describe('studies', () => {
  it.each([
    SAMPLE,
    'vllm/llama-3.1-8b-l4.compose.yaml',
    'sglang/deepseek-v3.launch.sh',
    'ollama/gemma3-27b.compose.yaml',
  ])('of %s pass the check that the page makes of them', (file) => {
    const { view } = studied(file);
    expect(readResult('studies', sent(view))).toEqual(sent(view));
  });

  it('say the figures of the plan where the row is what the launch has', () => {
    const { plan, view } = studied(SAMPLE);
    const { capacity, kv } = plan;
    expect(view.longest?.bars.filter((b) => b.current)).toEqual([
      expect.objectContaining({ label: 'fp8 · TP 2', tokens: capacity?.longestContext?.value, tone: 'good' }),
    ]);
    expect(view.blocks?.rows.find((r) => r.current)).toMatchObject({
      size: 16,
      tailTokens: 14,
      entries: 54,
      blocks: kv?.pool?.blocks.value,
    });
    const [contiguous, paged] = view.waste?.rows ?? [];
    expect(paged?.requests).toBe('774');
    for (const row of [contiguous, paged]) {
      expect(row?.parts.reduce((sum, p) => sum + p.share, 0)).toBeCloseTo(1, 9);
    }
  });

  it('say why a row is not to be had', () => {
    const rows = studied('vllm/llama-3.1-8b-l4.compose.yaml').view.heat?.rows;
    expect(rows?.find((r) => r.current)).toMatchObject({
      tone: 'bad',
      note: 'will not start at a max length of 131,072',
    });
    expect(rows?.find((r) => r.label === 'bfloat16 · TP 2')?.note).toBe('needs 2 GPUs, 1 is offered');
  });

  it('say what is missing', () => {
    expect(studied('ollama/gemma3-27b.compose.yaml').view.missing).toEqual([
      'Ollama has no block size to choose here.',
    ]);
  });
});

describe('controls', () => {
  it('name every option as the engine does, and hold the values that it takes', () => {
    const { tried } = triedOn(SAMPLE, { 'max-length': '4096', 'memory-share': '3' });
    const view = controlsView(tried, { 'max-length': '4096', 'memory-share': '3' });
    const field = (key: string) => view.fields.find((f) => f.key === key);
    expect(field('max-length')).toMatchObject({
      option: 'max-model-len',
      value: '4096',
      written: '32768',
      tried: true,
    });
    expect(field('memory-share')).toMatchObject({ value: '3', tried: false, error: expect.stringMatching(/not 3/) });
    expect(field('kv-dtype')?.choices?.map((c) => c.value)).toEqual(expect.arrayContaining(['auto', 'fp8', 'nvfp4']));
    expect(view.changes).toEqual([{ option: 'max-model-len', from: '32K', to: '4096' }]);
    expect(readParams('whatIf', { whatIf: view.whatIf })).toBeDefined();
    expect(readParams('whatIf', { whatIf: { 'rm -rf': '1' } })).toBeUndefined();
  });

  it('say that memory which is stated stays, whatever GPU is tried', () => {
    const text = '# kv-planner: gpu=H100-80GB gpu-memory=60GiB\nvllm serve Qwen/Qwen2.5-7B-Instruct\n';
    const notes = (changes: Changes, of = text) => {
      const tried = whatIf({ name: 'serve.sh', text: of, grammars }, {}, 0, changes);
      return tried && controlsView(tried, changes).notes;
    };
    expect(notes({ gpu: 'B200' })).toEqual([expect.stringMatching(/60\.00 GiB.* stays that on every GPU/)]);
    expect(notes({ 'max-length': '4096' })).toEqual([]);
    expect(notes({ gpu: 'B200' }, text.replace(' gpu-memory=60GiB', ''))).toEqual([]);
  });

  it('of an engine without such options are left out', () => {
    const keys = controlsView(triedOn('ollama/gemma3-27b.compose.yaml').tried, {}).fields.map((f) => f.key);
    expect(keys).toEqual(['gpu', 'gpus', 'kv-dtype', 'max-length', 'max-sequences', 'prompt', 'output']);
  });
});

describe('the pool’s part', () => {
  it('of an engine whose scheduler is not simulated tells the sizes of its blocks and requests, and what it finds of prompts', () => {
    expect(poolPart(studied('lmdeploy/qwen2.5-32b.compose.yaml').plan)).toMatchObject({
      kind: 'reason',
      text: 'The scheduler of LMDeploy is not simulated.',
      engine: 'LMDeploy 0.10.2',
      figures: { blockSize: 64, prompt: 600, output: 250, maxLength: 32768 },
      reuse: { rules: { kind: 'off', blockSize: 64 } },
    });
  });

  it('of memory that is not cut into blocks tells none', () => {
    expect(poolPart(studied('ollama/gemma3-27b.compose.yaml').plan)).not.toHaveProperty('figures');
  });
});

describe('values that do not speak for themselves', () => {
  const choicesOf = (file: string) => {
    const { fields } = controlsView(triedOn(file).tried, {});
    return fields.find((f) => f.key === 'kv-dtype')?.choices?.map((c) => c.text);
  };
  it('are offered with what they stand for, as far as the version has them', () => {
    const texts = ['0 (as computed)', '8 (int8)', '4 (int4)'];
    expect(choicesOf('lmdeploy/qwen2.5-32b.compose.yaml')).toEqual(texts);
    expect(choicesOf('lmdeploy/internlm2.5-7b-int8.serve.sh')).toEqual([
      ...texts,
      '16 (fp8_e4m3, PyTorch)',
      '17 (fp8_e5m2, PyTorch)',
      '42 (turbo_quant, PyTorch)',
    ]);
    expect(choicesOf('tgi/mistral-7b.docker.sh')?.[0]).toBe('default (the model’s dtype)');
  });

  it('every field says what it is', () => {
    for (const file of ['llama-cpp/llama-3.1-8b-slots.serve.sh', 'sglang/qwen3-next.compose.yaml']) {
      const { fields } = controlsView(triedOn(file).tried, {});
      expect(fields.filter(({ hint }) => !/^[A-Z].*\.$/.test(hint))).toEqual([]);
    }
  });
});

describe('comparison', () => {
  const pin = { file: 'file:///qwen.yaml', index: 0, whatIf: {} };
  const column = (plan: Plan, detail: string) => ({ title: 'qwen', detail, plan, pin });

  it('marks what differs from the first, and only that', () => {
    const { written, plan } = triedOn(SAMPLE, { 'max-sequences': '9' }).tried;
    const view = comparisonView([column(written, 'as it is'), column(plan, 'tried'), column(written, 'again')]);
    expect(readResult('compare', sent(view))).toEqual(sent(view));
    const differing = view.rows.filter((r) => r.cells.some((c) => c.differs));
    expect(differing.map((r) => r.label)).toEqual(
      expect.arrayContaining(['Requests at once, one replica', 'Most requests the engine runs']),
    );
    expect(differing.every((r) => r.cells[1]?.differs && !r.cells[0]?.differs && !r.cells[2]?.differs)).toBe(true);
    const limit = view.rows.find((r) => r.label === 'Requests at once, one replica');
    expect(limit).toMatchObject({ cells: [{ text: '64' }, { text: '9' }, { text: '64' }], numbers: [64, 9, 64] });
  });

  it('keeps the place of what cannot be planned, with the reason', () => {
    const { written } = triedOn(SAMPLE).tried;
    const view = comparisonView([
      { title: 'gone.sh', detail: 'as it is', error: 'No such file.', pin },
      column(written, ''),
    ]);
    expect(view.columns[0]).toMatchObject({ error: 'No such file.', tone: 'unknown' });
    expect(view.rows[0]?.cells[0]).toEqual({ text: '–', differs: false });
    expect(view.rows.find((r) => r.numbers)?.numbers?.[0]).toBeNull();
  });

  it('keeps pins of this shape alone', () => {
    const pin = { file: 'file:///a.sh', index: 0, whatIf: { tensor: '2' }, engine: 'sglang' };
    expect(readPins([pin])).toEqual([pin]);
    expect(readPins([{ ...pin, index: -1 }])).toBeUndefined();
    expect(readPins('x')).toBeUndefined();
  });
});
