// The results as tables, and the bars that the software adapter must reach.

/** @typedef {import('../../src/core/pool/kernel-result').BenchResult} BenchResult @typedef {BenchResult['rows'][number]} Row */

const ratio = (/** @type {Row['ratio']} */ { median, low, high }) =>
  `${median.toFixed(2)} [${low.toFixed(2)}, ${high.toFixed(2)}]`;

/** @param {Row} row */
const nameOf = ({ kind, order, blockSize }) => {
  const names = {
    contiguous: 'contiguous',
    again: 'contiguous again (A/A)',
    naive: 'naive',
    read: 'read only',
    gather: 'gather, then dense',
    paged: 'paged',
  };
  return [names[kind], blockSize, order === 'pool' ? 'as the pool leaves it' : order].filter(Boolean).join(' ');
};

/** @param {BenchResult} result */
export function printResult({ where, shape, checks, clock, rounds, rows, drift, notes }) {
  const { heads, kvHeads, headDim, dtype, sequences, tokens, bytes } = shape;
  console.log(
    `\n${where.runner}: ${dtype}, head dim ${headDim}, ${heads}/${kvHeads} heads, ${sequences} sequences, ${tokens} tokens, ` +
      `${(bytes / 2 ** 20).toFixed(1)} MiB of keys and values`,
  );
  console.log(
    `  ${checks.count - checks.wrong} of ${checks.count} checks right; largest error ${checks.worst.toExponential(1)} ` +
      `(bar ${checks.tolerance.toExponential(0)}); storing in ${dtype} alone: ${checks.storage.toExponential(1)}`,
  );
  for (const note of notes) {
    console.log(`  ${note}`);
  }
  if (rows.length === 0) {
    return;
  }
  console.log(
    `  ${rounds} rounds by ${clock.kind}, second half of them ${drift?.toFixed(2)} × the first; ratios to contiguous with 95 % intervals`,
  );
  for (const row of rows) {
    const figures = [
      `${row.milliseconds.toFixed(3)} ms`,
      `${row.gigabytesPerSecond.toFixed(1)} GB/s`,
      `${(100 * row.roofline).toFixed(0)} % of reading`,
    ];
    const difference = row.real ? '' : row.kind === 'contiguous' ? '' : '  (no difference from the noise)';
    console.log(
      `  ${nameOf(row).padEnd(34)} ${ratio(row.ratio).padEnd(20)} ${figures.map((f) => f.padStart(16)).join('')}${difference}`,
    );
  }
}

/** @param {readonly { who: string, what: string, figure: string, source: string }[]} published */
export function printPublished(published) {
  console.log('\nPublished by others, on other machines:');
  for (const { who, what, figure, source } of published) {
    console.log(`  ${who}: ${figure}: ${what} (${source})`);
  }
}

/**
 * A bar is missed only when the whole interval is beyond it. On the software adapter: f16, head dim 128; on a GPU: what
 * paging may cost at most, when there is enough to read.
 * @param {BenchResult} result
 * @param {{ gpu: boolean, loud: boolean }} where
 */
export function barsOf({ shape, clock, noise, rounds, rows }, { gpu, loud }) {
  if (shape.dtype !== 'f16' || shape.headDim !== 128 || rows.length === 0) {
    return { good: 0, bad: 0 };
  }
  if (!noise || loud || clock.kind === 'wall' || rounds < 21) {
    const short = clock.kind === 'wall' ? 'only the wall clock is there' : `${rounds} rounds`;
    const why = noise && loud ? `contiguous against itself is ${ratio(noise)}` : short;
    console.log(`  too noisy: not judged (${why})`);
    return { good: 0, bad: 0 };
  }
  const find = (
    /** @type {Row['kind']} */ kind,
    /** @type {Row['order']} */ order,
    /** @type {number | undefined} */ blockSize,
  ) => rows.find((row) => row.kind === kind && row.order === order && row.blockSize === blockSize)?.ratio;
  const naive = find('naive', undefined, undefined);
  const split = naive && { median: 1 / naive.median, low: 1 / naive.high, high: 1 / naive.low };
  /** @type {[string, Row['ratio'] | undefined, number][]} */
  const bars = gpu
    ? [
        ['paged 32, random', find('paged', 'random', 32), 1.05],
        ['paged 16, random', find('paged', 'random', 16), 1.1],
        ['paged 1, random', find('paged', 'random', 1), 1.35],
      ]
    : [
        ['split against naive', split, 0.5],
        ['paged 16, random', find('paged', 'random', 16), 1.5],
        ['paged 1, sequential', find('paged', 'sequential', 1), 1.3],
      ];
  let bad = 0;
  for (const [what, interval, bar] of bars) {
    const missed = !interval || interval.low > bar;
    bad += missed ? 1 : 0;
    console.log(
      `  ${missed ? 'MISSED' : 'ok    '} ${what}: ${interval ? ratio(interval) : 'not measured'}, bar ${bar}`,
    );
  }
  return { good: bars.length - bad, bad };
}
