// The results as tables, and what was reached of what is asked.

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
 * The bars, printed, and how many were reached.
 * @param {{ why: string } | { bars: readonly import('../../webview/bench/bars').Bar[] }} verdict
 */
export function printBars(verdict) {
  if ('why' in verdict) {
    console.log(`  not judged: ${verdict.why}`);
    return { good: 0, bad: 0 };
  }
  for (const { what, interval, most, least, missed } of verdict.bars) {
    const limit = most === undefined ? `at least ${least}` : `at most ${most}`;
    console.log(
      `  ${missed ? 'MISSED' : 'ok    '} ${what}: ${interval ? ratio(interval) : 'not measured'}, bar ${limit}`,
    );
  }
  const bad = verdict.bars.filter(({ missed }) => missed).length;
  return { good: verdict.bars.length - bad, bad };
}
