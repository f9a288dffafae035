import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addRun,
  appendTokens,
  bytesPerBlock,
  closeSequence,
  commonPrefixBlocks,
  createBlockPool,
  createContents,
  createContiguous,
  createReader,
  createSequencePool,
  createSimulation,
  createVllmV1,
  fixedClock,
  forkSequence,
  hashNextBlock,
  locate,
  openSequence,
  ownersOf,
  type Run,
  runsOfTokens,
  sequenceTable,
  startReading,
  type Text,
  trafficBuilder,
} from '../../../src/core/pool';
import { readTruth } from '../../truth/vectors';
import { runs } from './support';

interface Seeds {
  readonly locate: {
    readonly blockSize: number;
    readonly table: readonly number[];
    readonly cases: readonly { readonly token: number; readonly block: number; readonly offset: number }[];
  };
  readonly llama31_70b: {
    readonly prompt: number;
    readonly output: number;
    readonly blockSize: number;
    readonly tailTokens: number;
    readonly pagedBlocksPerRequest: { readonly exact: number };
  };
  readonly sharedPrefix: { readonly promptTokens: number; readonly conversations: number };
}

const seeds = readTruth<Seeds>('seeds.json');

describe('the worked numbers', () => {
  it.each(seeds.locate.cases)('token $token is in block $block at $offset', ({ token, block, offset }) => {
    expect(locate(seeds.locate.table, seeds.locate.blockSize, token)).toEqual({ block, offset });
  });

  it('a token outside the table has no place', () => {
    expect(locate(seeds.locate.table, 16, 48)).toBeUndefined();
    expect(locate(seeds.locate.table, 16, -1)).toBeUndefined();
  });

  it('850 tokens take 54 blocks and leave 14 tokens of the last', () => {
    const { prompt, output, blockSize, tailTokens, pagedBlocksPerRequest } = seeds.llama31_70b;
    const pool = createSequencePool(1000, blockSize);
    const sequence = openSequence(pool);
    appendTokens(pool, sequence, prompt);
    for (let i = 0; i < output; i++) {
      appendTokens(pool, sequence, 1);
    }
    const blocks = sequenceTable(pool, sequence).length;
    expect(blocks).toBe(pagedBlocksPerRequest.exact);
    expect(blocks * blockSize - (prompt + output)).toBe(tailTokens);
  });

  it('200 conversations share the 125 blocks of a 2,000-token prompt; contiguous, each has its own copy', () => {
    const { promptTokens, conversations } = seeds.sharedPrefix;
    const builder = trafficBuilder('shared prompt');
    for (let i = 0; i <= conversations; i++) {
      const own = { source: 100 + i, first: 0, count: 8 };
      builder.add({
        arrival: i === 0 ? 0 : 1,
        prompt: [{ source: 1, first: 0, count: promptTokens }, own],
        output: 200,
      });
    }
    const traffic = builder.build();
    const scheduler = createVllmV1(traffic, {
      blocks: 40_001,
      groups: [{ kind: 'full', blockSize: 16 }],
      batchTokens: 8192,
      maxSequences: 256,
      maxLength: 8192,
    });
    createSimulation(scheduler, { clock: fixedClock(0.5) }).run(6);
    const shared = Array.from({ length: 40_001 }, (_, block) => ownersOf(scheduler.kv.pool, block)).filter(
      (count) => count === conversations + 1,
    );
    expect(scheduler.running()).toBe(conversations + 1);
    expect(shared.length).toBe(125);
    expect(commonPrefixBlocks(scheduler)).toEqual([125]);
    expect(scheduler.owned() / 16).toBe(125 + (conversations + 1));

    const contiguous = createContiguous(traffic, {
      tokens: 4_000_000,
      maxLength: 8192,
      fit: 'first-fit',
      batching: 'continuous',
      maxSequences: 256,
      batchTokens: 1e6,
    });
    createSimulation(contiguous, { clock: fixedClock(0.5) }).run(6);
    expect(contiguous.space().held).toBeGreaterThan((conversations + 1) * promptTokens);
  });

  it('a write into a shared block copies that one block; every full block before it stays shared', () => {
    const pool = createSequencePool(20, 4);
    const parent = openSequence(pool);
    appendTokens(pool, parent, 10);
    const child = forkSequence(pool, parent);
    const before = [...sequenceTable(pool, parent)];
    appendTokens(pool, child, 1);
    const after = [...sequenceTable(pool, child)];
    expect(pool.copies).toBe(1);
    expect(after.slice(0, 2)).toEqual(before.slice(0, 2));
    expect(after[2]).not.toBe(before[2]);
    expect(before.map((block) => pool.references[block])).toEqual([2, 2, 1]);
    appendTokens(pool, parent, 1); // its tail is its own again
    expect(pool.copies).toBe(1);
    closeSequence(pool, child);
    closeSequence(pool, parent);
    expect(pool.free).toBe(19);
  });

  it('the bookkeeping of a block is at most 64 bytes, a table entry and its hash included', () => {
    for (const blocks of [1000, 1025, 65_537, 100_001, 500_000]) {
      expect(bytesPerBlock(createBlockPool({ blocks })) + 12).toBeLessThanOrEqual(64);
    }
  });
});

describe('hashes of blocks', () => {
  const textOf = (prompt: readonly Run[], more: Partial<Text> = {}): Text => {
    const contents = createContents(4);
    for (const { source, first, count } of prompt) {
      addRun(contents, source, first, count);
    }
    const promptTokens = prompt.reduce((sum, { count }) => sum + count, 0);
    return {
      contents,
      firstRun: 0,
      promptTokens,
      outputSource: -7,
      outputFirst: 0,
      outputStep: 1,
      adapter: 0,
      salt: 0,
      ...more,
    };
  };
  const hashesOf = (text: Text, size: number, blocks: number) => {
    const reader = createReader();
    startReading(reader, text);
    return Array.from({ length: blocks }, () => {
      hashNextBlock(reader, text, size);
      return `${reader.lo} ${reader.hi}`;
    });
  };

  it('are equal exactly as far as the tokens are, however the runs are cut', () => {
    const someTokens = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 24, maxLength: 24 });
    fc.assert(
      fc.property(
        someTokens,
        someTokens,
        fc.integer({ min: 0, max: 24 }),
        fc.constantFrom(1, 2, 4, 8),
        (a, b, common, size) => {
          const other = [...a.slice(0, common), ...b.slice(common)];
          const cut = other.map((token) => ({ source: 0, first: token, count: 1 }));
          const one = hashesOf(textOf(runsOfTokens(a)), size, 24 / size);
          const two = hashesOf(textOf(cut), size, 24 / size);
          const firstDifference = a.findIndex((token, i) => token !== other[i]);
          const equal = firstDifference < 0 ? one.length : Math.floor(firstDifference / size);
          expect(one.map((hash, i) => hash === two[i])).toEqual(one.map((_, i) => i < equal));
        },
      ),
      runs(300),
    );
  });

  const base = textOf([{ source: 0, first: 5, count: 8 }]);
  const plain = hashesOf(base, 4, 3);
  it.each<[string, Text, readonly boolean[]]>([
    ['the same text again', textOf([{ source: 0, first: 5, count: 8 }]), [true, true, true]],
    ['an adapter changes every block', { ...base, adapter: 2 }, [false, false, false]],
    ['a salt changes the first block, and so all', { ...base, salt: 9 }, [false, false, false]],
    [
      'an image at the same place',
      textOf([
        { source: 0, first: 5, count: 4 },
        { source: 40, first: 0, count: 4 },
      ]),
      [true, false, false],
    ],
    ['another output', { ...base, outputSource: -8 }, [true, true, false]],
    [
      'an output that is the next turn’s prompt',
      textOf([
        { source: 0, first: 5, count: 8 },
        { source: -7, first: 0, count: 4 },
      ]),
      [true, true, true],
    ],
  ])('%s', (_, text, equal) => {
    expect(hashesOf(text, 4, 3).map((hash, i) => hash === plain[i])).toEqual(equal);
  });
});
