/** Where the lengths behind a capacity stand: the workload's for what is paged, the maximum for what is one slab. */
import type { Capacity } from '../core/capacity/capacity';
import type { Figure, Origin } from '../core/figure';

const also = (figure: Figure, more: readonly Origin[]): Figure => ({
  ...figure,
  explain: () => {
    const told = figure.explain();
    return { ...told, origins: [...told.origins, ...more] };
  },
});

export function withLengths(capacity: Capacity, workload: readonly Origin[], maxLength: Origin | undefined): Capacity {
  const { contiguous, paged, steadyState } = capacity;
  const longest = maxLength ? [maxLength] : [];
  return {
    ...capacity,
    contiguous: {
      ...contiguous,
      requests: also(contiguous.requests, longest),
      bytesPerRequest: also(contiguous.bytesPerRequest, longest),
      usedShare: also(contiguous.usedShare, workload),
    },
    paged: {
      ...paged,
      requests: also(paged.requests, workload),
      blocksPerRequest: also(paged.blocksPerRequest, workload),
      usedShare: also(paged.usedShare, workload),
      requestsAtMaxLength: also(paged.requestsAtMaxLength, longest),
    },
    steadyState: also(steadyState, workload),
  };
}
