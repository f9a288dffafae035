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

/** A GPU's keys and values must leave its cache. */
const ENOUGH_BYTES = 128 * 2 ** 20;
const ROUNDS = 21;

/** @typedef {{ what: string, interval: Row['ratio'] | undefined, most?: number, least?: number }} Bar */

/** Why a result is not judged, if it is not. @param {BenchResult} result @param {boolean} loud */
function excuse({ adapter, shape, clock, noise, rounds }, loud) {
  if (!noise || clock.kind === 'wall') {
    return 'only the wall clock is there';
  }
  if (loud) {
    return `too noisy: contiguous against itself is ${ratio(noise)}`;
  }
  if (rounds < ROUNDS) {
    return `${rounds} rounds, fewer than ${ROUNDS}`;
  }
  return !adapter.fallback && shape.bytes < ENOUGH_BYTES
    ? `${(shape.bytes / 2 ** 20).toFixed(0)} MiB of keys and values, fewer than ${ENOUGH_BYTES / 2 ** 20}`
    : undefined;
}

/**
 * What is asked of f16 with head dim 128: on the software adapter by its CPU time; on a GPU what paging may cost at most,
 * and how near contiguous attention comes to only reading. @param {BenchResult} result @returns {Bar[]}
 */
function barsFor({ adapter, rows }) {
  const find = (
    /** @type {Row['kind']} */ kind,
    /** @type {Row['order']} */ order = undefined,
    /** @type {number | undefined} */ blockSize = undefined,
  ) => rows.find((row) => row.kind === kind && row.order === order && row.blockSize === blockSize)?.ratio;
  const paged = (
    /** @type {number} */ size,
    /** @type {number} */ most,
    /** @type {'random' | 'sequential'} */ order,
  ) => ({
    what: `paged ${size}, ${order}`,
    interval: find('paged', order, size),
    most,
  });
  if (adapter.fallback) {
    const naive = find('naive');
    const split = naive && { median: 1 / naive.median, low: 1 / naive.high, high: 1 / naive.low };
    const bar = { what: 'split against naive', interval: split, most: 0.5 };
    return [bar, paged(16, 1.5, 'random'), paged(1, 1.3, 'sequential')];
  }
  return [
    // The read's time over contiguous attention's is the share of the bandwidth that attention reaches.
    { what: 'contiguous, share of the measured read bandwidth', interval: find('read'), least: 0.75 },
    ...[32, 64, 128, 256].map((size) => paged(size, 1.05, 'random')),
    paged(16, 1.1, 'random'),
    paged(1, 1.35, 'random'),
  ];
}

/** Missed only when the whole interval is beyond it; what was not measured is missed too. @param {Bar} bar */
const isMissed = ({ interval, most = Number.POSITIVE_INFINITY, least = 0 }) =>
  !interval || interval.low > most || interval.high < least;

/** @param {BenchResult} result @param {{ loud: boolean, say?: (line: string) => void }} setting */
export function barsOf(result, { loud, say = console.log }) {
  const { shape, rows } = result;
  if (shape.dtype !== 'f16' || shape.headDim !== 128 || rows.length === 0) {
    return { good: 0, bad: 0 };
  }
  const why = excuse(result, loud);
  if (why) {
    say(`  not judged: ${why}`);
    return { good: 0, bad: 0 };
  }
  const bars = barsFor(result);
  for (const bar of bars) {
    const figure = bar.interval ? ratio(bar.interval) : 'not measured';
    const limit = bar.most === undefined ? `at least ${bar.least}` : `at most ${bar.most}`;
    say(`  ${isMissed(bar) ? 'MISSED' : 'ok    '} ${bar.what}: ${figure}, bar ${limit}`);
  }
  const bad = bars.filter(isMissed).length;
  return { good: bars.length - bad, bad };
}
