/** The longest request that a number of blocks holds. */
import type { Layout } from '../engines/engine';
import { ceilDiv } from '../units';

export const requestBlocks = (layout: Layout, tokens: number): number =>
  layout.groupBlocks(tokens).reduce((a, b) => a + b, 0);

/**
 * Largest length in 1…`limit` whose blocks fit `usableBlocks`; 0 when none does. Blocks grow with length, so a binary
 * search is exact; it starts at the most that the blocks of the group with the largest ones could hold.
 */
export function longestFitting(layout: Layout, usableBlocks: number, limit: number): number {
  const largest = Math.max(...layout.groups.map((g) => (g.kind === 'full' || g.kind === 'latent' ? g.blockSize : 0)));
  const most = largest > 0 ? usableBlocks * largest * layout.tokensPerSlot : limit;
  let low = 0;
  let high = Math.min(limit, most);
  if (requestBlocks(layout, high) <= usableBlocks) {
    return high;
  }
  while (low < high) {
    const middle = low + ceilDiv(high - low, 2);
    if (requestBlocks(layout, middle) <= usableBlocks) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}
