// Measuring in one process, at one time: what is compared takes turns, so that a busy machine slows both.

/** @param {readonly number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/**
 * Milliseconds per call, the median of each candidate's rounds.
 * @param {readonly (() => unknown)[]} candidates
 * @param {{ rounds: number, calls: number }} size
 */
export function inTurns(candidates, { rounds, calls }) {
  const times = candidates.map(() => /** @type {number[]} */ ([]));
  for (let round = 0; round < rounds; round++) {
    candidates.forEach((candidate, index) => {
      const start = performance.now();
      for (let call = 0; call < calls; call++) {
        candidate();
      }
      times[index]?.push((performance.now() - start) / calls);
    });
  }
  return times.map(median);
}

/** A fixed amount of plain work, to tell a slow machine from slow code. */
export function calibrate() {
  const start = performance.now();
  let x = 1;
  for (let i = 0; i < 20_000_000; i++) {
    x = (Math.imul(x, 1_103_515_245) + 12_345) | 0;
  }
  return { milliseconds: performance.now() - start, x };
}
