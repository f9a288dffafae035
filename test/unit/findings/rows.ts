/** A finding as a row: a launch that has it, one that just has not, what it says and where, and its fixes applied. */
import { expect, test } from 'vitest';
import type { Overrides } from '../../../src/planner';
import { compose, found, type Given, planOf, textAt, withFix } from './support';

export interface Row extends Given {
  readonly code: string;
  readonly severity: 'error' | 'warning' | 'information' | 'hint';
  readonly has: readonly string[];
  /** Just outside: the same launch but for one setting. */
  readonly hasNot: readonly string[];
  readonly notGiven?: Given;
  /** Parts of the message. */
  readonly says: readonly string[];
  /** The text at its place. */
  readonly at: string;
  /** How the title of each fix begins (or a pattern), its option and value (`*` = any); each must make the finding go. */
  readonly fixes: readonly (readonly [title: string | RegExp, option: string, value: string])[];
  /** Whether the server starts with it: yes unless said. */
  readonly starts?: false | 'unknown';
}

export const llama8 = '--model=meta-llama/Llama-3.1-8B-Instruct';
export const llama70 = '--model=meta-llama/Llama-3.1-70B-Instruct';
export const gemma = '--model=google/gemma-3-27b-it';
export const vision = '--model=Qwen/Qwen2.5-VL-7B-Instruct';
export const deepseek = '--model=deepseek-ai/DeepSeek-R1';
export const qwenNext = '--model=Qwen/Qwen3-Next-80B-A3B-Instruct';
export const scout = '--model=meta-llama/Llama-4-Scout-17B-16E-Instruct';
export const IMAGE = 'vllm/vllm-openai:v0.28.0';
export const h100: Overrides = { gpu: 'H100-80GB' };
export const kv = (size: string, more: Overrides = {}): Overrides => ({ 'kv-memory': size, ...more });

/** The config.json of a plain model. */
export const config = (over: Record<string, unknown>): Record<string, unknown> => ({
  architectures: ['LlamaForCausalLM'],
  model_type: 'llama',
  hidden_size: 4096,
  intermediate_size: 14336,
  num_attention_heads: 32,
  num_hidden_layers: 16,
  num_key_value_heads: 8,
  head_dim: 128,
  vocab_size: 128256,
  max_position_embeddings: 8192,
  torch_dtype: 'bfloat16',
  ...over,
});

const literal = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

export function checkRows(rows: readonly Row[]): void {
  test.each(rows.map((row, i) => [`${row.code} (${i + 1})`, row] as const))('%s', (_, row) => {
    const text = compose(row.has, row);
    const plan = planOf(text, row);
    const finding = found(plan, row.code);
    expect(plan.findings.map((f) => f.code)).toContain(row.code);
    expect(finding?.severity).toBe(row.severity);
    for (const part of row.says) {
      expect(finding?.message).toContain(part);
    }
    expect(finding && textAt(text, finding)).toBe(row.at);
    expect(plan.starts).toBe(row.starts ?? true);
    expect(finding?.fixes.map((f) => f.option)).toEqual(row.fixes.map(([, option]) => option));
    finding?.fixes.forEach((fix, i) => {
      const [title, , value] = row.fixes[i] as Row['fixes'][number];
      expect(fix.title).toMatch(title instanceof RegExp ? title : new RegExp(`^${literal(title)}`));
      expect(value === '*' ? value : fix.value).toBe(value);
      const fixed = withFix(plan, text, fix);
      expect(fixed).not.toBe(text);
      const codes = planOf(fixed, row).findings.map((f) => f.code);
      for (const gone of [row.code, 'bad-value', 'unknown-option']) {
        expect(codes, fixed).not.toContain(gone);
      }
    });

    const other = { ...row, ...row.notGiven };
    const without = planOf(compose(row.hasNot, other), other);
    expect(without.planned).toBe(true);
    expect(without.findings.map((f) => f.code)).not.toContain(row.code);
  });
}
