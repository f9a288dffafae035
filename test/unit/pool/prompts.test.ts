/** Two prompts: what is shared, where it breaks and why, and what an engine's cache makes of it. */
import { describe, expect, it, test } from 'vitest';
import {
  comparePrompts,
  estimateTokens,
  fixedClock,
  generateTraffic,
  type PairReuse,
  type PairRules,
  pairReuse,
  promptReuse,
  tokenIds,
  trafficReuse,
  type WorldOptions,
  withoutReuse,
} from '../../../src/core/pool';

const v1 = (over: Partial<Extract<WorldOptions, { engine: 'vllm-v1' }>> = {}): WorldOptions => ({
  engine: 'vllm-v1',
  blocks: 1001,
  groups: [{ kind: 'full', blockSize: 16 }],
  maxSequences: 64,
  batchTokens: 8192,
  maxLength: 8192,
  caching: true,
  ...over,
});

describe('where two prompts part', () => {
  it.each<[string, string, string, string, number]>([
    ['the same', 'You are kind.', 'You are kind.', 'never', 13],
    ['a date at the front', 'Today is 2026-11-29. Help.', 'Today is 2026-11-30. Help.', 'digits', 17],
    ['a blank too many', 'Be brief.\nUser: a', 'Be brief. \nUser: a', 'white-space', 9],
    ['a capital letter', 'system: go', 'System: go', 'letter-case', 0],
    ['other words', 'Hello Ann', 'Hello Bob', 'text', 6],
    ['more behind it', 'Hello', 'Hello Bob', 'first-ends', 5],
    ['less of it', 'Hello Bob', 'Hello', 'second-ends', 5],
    ['characters of two code units', '😀😀a', '😀😀b', 'text', 2],
  ])('%s', (_, first, second, reason, shared) => {
    expect(comparePrompts(first, second).at).toMatchObject({ reason, shared });
  });

  it('names the place in the second prompt, and what stands there', () => {
    const { at } = comparePrompts('one\ntwo three', 'one\ntwo four\nfive');
    expect(at).toMatchObject({ line: 2, column: 5, first: 'three', second: 'four⏎five' });
  });

  it('counts token ids exactly, however they are written', () => {
    expect(tokenIds('[1, 2,\n 3]')).toEqual([1, 2, 3]);
    expect(tokenIds('1 2 3')).toEqual([1, 2, 3]);
    expect(tokenIds('1 two 3')).toBeUndefined();
    expect(tokenIds('42')).toBeUndefined();
    const pair = comparePrompts('[1,2,3,4]', '1 2 9');
    expect(pair).toMatchObject({ exact: true, shared: { low: 2, value: 2, high: 2 }, at: { second: '9' } });
  });

  it('estimates the tokens of a text as a range', () => {
    expect(estimateTokens('a'.repeat(1200))).toEqual({ low: 226, value: 300, high: 500 });
    expect(estimateTokens('汉字かな')).toEqual({ low: 2, value: 3, high: 6 });
    expect(estimateTokens('')).toEqual({ low: 0, value: 0, high: 0 });
  });

  // Counted with gpt-tokenizer 4.0.0 (o200k_base, cl100k_base) and llama3-tokenizer-js 1.2.0 on this project's files and on
  // the messages of TypeScript 6.0.3 in 13 languages: characters of scripts with and without spaces, then tokens.
  it.each([
    ['prose', 53327, 0, [14126, 14113, 14112]],
    ['a licence', 1079, 0, [223, 221, 221]],
    ['TypeScript', 23060, 0, [5935, 5900, 5900]],
    ['JSON', 33295, 0, [6352, 6358, 6358]],
    ['YAML', 2034, 0, [651, 647, 647]],
    ['Czech', 150018, 0, [48546, 62050, 46775]],
    ['German', 181826, 0, [44202, 51149, 51084]],
    ['Spanish', 178136, 0, [41468, 45657, 45609]],
    ['French', 182629, 0, [44739, 49761, 49600]],
    ['Italian', 182119, 0, [45543, 49588, 49506]],
    ['Japanese', 35499, 60060, [55862, 74602, 53022]],
    ['Korean', 43644, 49061, [46891, 63269, 48676]],
    ['Polish', 169665, 0, [54076, 62704, 61270]],
    ['Portuguese', 168625, 0, [40011, 45704, 45655]],
    ['Russian', 164744, 0, [42868, 62292, 48048]],
    ['Turkish', 159954, 0, [47902, 61529, 46376]],
    ['Chinese, simplified', 29824, 32728, [38139, 46002, 39330]],
    ['Chinese, traditional', 31984, 33096, [45672, 60362, 44676]],
  ])('the range holds what tokenizers count in %s', (_, plain, dense, counted) => {
    const { low, high } = estimateTokens('a'.repeat(plain) + '汉'.repeat(dense));
    expect(Math.min(...counted)).toBeGreaterThanOrEqual(low);
    expect(Math.max(...counted)).toBeLessThanOrEqual(high);
  });
});

const found = (value: number, blocks: number): PairReuse['found'] => ({
  value,
  low: value,
  high: value,
  blocks: { low: blocks, high: blocks },
  share: value / 120,
});

describe('what the cache makes of it', () => {
  test.each<[string, { first: number; second: number; shared: number }, WorldOptions, number]>([
    ['whole blocks of what is shared', { first: 100, second: 120, shared: 90 }, v1(), 80],
    ['never the last token of a prompt', { first: 96, second: 96, shared: 96 }, v1(), 80],
    ['nothing below a block', { first: 40, second: 40, shared: 15 }, v1(), 0],
    ['nothing when it is off', { first: 100, second: 120, shared: 90 }, v1({ caching: false }), 0],
    [
      'single tokens in SGLang',
      { first: 100, second: 120, shared: 90 },
      { engine: 'sglang', tokens: 4096, pageSize: 1, radixCache: true, maxRunning: 8, maxLength: 4096, chunk: 2048 },
      90,
    ],
  ])('%s', (_, sizes, options, hit) => {
    expect(promptReuse(sizes, options).hitTokens).toBe(hit);
  });

  test.each<[string, PairRules, Partial<PairReuse>]>([
    [
      'the scheduler’s',
      { kind: 'world', world: v1(), blockSize: 16 },
      { sharedShare: 0.75, sharedBlocks: { low: 5, high: 5 }, found: found(80, 5) },
    ],
    ['whole blocks', { kind: 'blocks', blockSize: 32 }, { sharedBlocks: { low: 2, high: 2 }, found: found(64, 2) }],
    ['single tokens', { kind: 'blocks', blockSize: 1 }, { sharedBlocks: { low: 90, high: 90 }, found: found(90, 90) }],
    ['nothing kept', { kind: 'off', blockSize: 32 }, { sharedBlocks: { low: 2, high: 2 }, found: found(0, 0) }],
    ['not known', { kind: 'shared', blockSize: 32 }, { sharedBlocks: { low: 2, high: 2 } }],
    ['not even blocks', { kind: 'tokens' }, {}],
  ])('in figures, by a rule: %s', (_, rules, expected) => {
    const ids = (last: number) => [
      ...Array.from({ length: 90 }, (_, i) => i),
      ...Array.from({ length: 30 }, () => last),
    ];
    const reuse = pairReuse(comparePrompts(ids(500).join(' '), ids(600).join(' ')), rules);
    expect(reuse).toEqual({ sharedShare: 0.75, ...expected });
  });

  it('of a prompt that is wholly there, its last token is computed all the same', () => {
    const pair = comparePrompts('1 2 3 4', '1 2 3 4');
    expect(pairReuse(pair, { kind: 'blocks', blockSize: 1 }).found?.value).toBe(3);
    expect(pairReuse(pair, { kind: 'blocks', blockSize: 4 }).found?.value).toBe(0);
  });

  it('says why a prompt is refused', () => {
    expect(promptReuse({ first: 9000, second: 10, shared: 5 }, v1()).refused).toMatch(/\S/);
  });

  it('is worth something to conversations, and nothing without one', () => {
    const traffic = generateTraffic({
      requests: 60,
      seed: 1,
      arrivals: { kind: 'poisson', rate: 1 },
      prompt: { kind: 'fixed', value: 200 },
      output: { kind: 'fixed', value: 50 },
      chat: { turns: { kind: 'fixed', value: 6 }, thinkSeconds: 5 },
    });
    const reuse = trafficReuse(traffic, v1(), fixedClock(0.05));
    expect(reuse.requests.finished).toBe(60);
    expect(reuse.prefix.rate).toBeGreaterThan(0.5);
    expect(reuse.residency.reduce((sum, { turns }) => sum + turns, 0)).toBe(50);
    expect(trafficReuse(traffic, withoutReuse(v1()), fixedClock(0.05)).prefix.hitTokens).toBe(0);
  });
});
