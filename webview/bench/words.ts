/** What is said of a run: sentences only, no page. */
import type { BlockSizeRow } from '../../src/core/pool';
import { type BenchResult, isNoisy } from '../../src/core/pool/kernel-result';
import type { AdapterFacts, Trouble } from './device';
import type { Interval } from './statistics';

type Row = BenchResult['rows'][number];

export interface Told {
  readonly title: string;
  readonly text: string;
}

const STILL = 'Everything else in the dashboard works without it.';
const REFERENCE = 'The reference can run on the CPU instead.';

/** What happened, and what still works. */
const TROUBLES: Readonly<Record<Trouble, Told>> = {
  'no-webgpu': {
    title: 'This window has no WebGPU',
    text: `The editor’s browser part does not offer it here. ${REFERENCE} ${STILL}`,
  },
  'no-adapter': {
    title: 'No GPU is offered to this window',
    text:
      'WebGPU is there, but no adapter: usual on Linux without a recent driver, in virtual machines, and with hardware ' +
      `acceleration switched off. ${REFERENCE} ${STILL}`,
  },
  refused: {
    title: 'The GPU gives no device',
    text: `It was found and then refused; another program may hold it. ${REFERENCE} ${STILL}`,
  },
  limits: {
    title: 'This GPU is too small for the step',
    text: `Its limits do not hold even the smallest one. ${REFERENCE} ${STILL}`,
  },
  validation: {
    title: 'The driver refused a kernel',
    text: `Nothing was measured, because a kernel that does not run cannot be checked. ${STILL}`,
  },
  'out-of-memory': {
    title: 'The GPU had no memory left',
    text: `It was tried twice, the second time with half the work. Close what else uses the GPU and run again. ${STILL}`,
  },
  lost: {
    title: 'The GPU was lost in the middle',
    text: `It was tried twice, the second time with half the work. The driver may have started anew. ${STILL}`,
  },
  slow: {
    title: 'This GPU is too slow for the step',
    text: `One pass takes longer than is good for a machine that also draws this window, with a quarter of the work too. ${STILL}`,
  },
  stuck: {
    title: 'The GPU did not come back',
    text: `A pass took longer than is good for a machine that also draws this window; it was given up. ${STILL}`,
  },
  cancelled: { title: 'Cancelled', text: 'Nothing is shown of a run that was not finished.' },
};

export const troubleWords = (trouble: Trouble): Told => TROUBLES[trouble];

export const adapterName = ({ vendor, architecture, device, description }: AdapterFacts): string =>
  description || [vendor, device || architecture].filter(Boolean).join(' ') || 'an adapter that does not say its name';

/** Whose GPU it is, never the server's. */
export function whoseGpu(adapter: AdapterFacts, remote: string): string {
  const what = adapter.fallback ? 'software that plays a GPU on' : 'the GPU of';
  const whose =
    remote === '' ? 'this computer' : `the computer that shows this window, not of ${remote} to which it is connected`;
  const serving =
    adapter.fallback || remote !== ''
      ? 'It is not the GPU that will serve.'
      : 'The GPU that will serve may be another.';
  return `Runs on ${adapterName(adapter)}, ${what} ${whose}. ${serving}`;
}

export const ratioText = ({ median, low, high }: Interval): string =>
  `${median.toFixed(2)} [${low.toFixed(2)}, ${high.toFixed(2)}]`;

export const percentText = (share: number): string => `${(100 * share).toFixed(Math.abs(share) < 0.1 ? 1 : 0)} %`;

export function rowName({ kind, order, blockSize }: Row): string {
  const names = {
    contiguous: 'Contiguous',
    again: 'Contiguous again',
    paged: 'Paged',
    naive: 'Naive',
    gather: 'Gathered, then dense',
    read: 'Read only',
  };
  const orders = { sequential: 'in order', random: 'scattered', pool: 'as the pool leaves it' };
  return [
    names[kind] + (blockSize === undefined ? '' : `, blocks of ${blockSize}`),
    order === undefined ? '' : orders[order],
  ]
    .filter(Boolean)
    .join(' ');
}

export const pagedRows = ({ rows }: BenchResult, order: Row['order']): readonly (Row & { blockSize: number })[] =>
  rows.flatMap((row) =>
    row.kind === 'paged' && row.order === order && row.blockSize !== undefined
      ? [{ ...row, blockSize: row.blockSize }]
      : [],
  );

/** The answer in a sentence. */
export function headline(result: BenchResult): Told {
  const { checks, noise, shape } = result;
  if (checks.wrong > 0) {
    return {
      title: `${checks.wrong} of ${checks.count} checks failed on this GPU`,
      text: 'A kernel that is wrong has no time worth showing. Driver or kernel compute something else than the reference.',
    };
  }
  const right = `All ${checks.count} checks passed; the largest error is ${checks.worst.toExponential(1)} of a head’s largest output.`;
  if (result.rows.length === 0 || !noise) {
    return { title: 'The kernels are right on this adapter', text: right };
  }
  if (isNoisy(result)) {
    return {
      title: 'Too noisy to judge',
      text: `Contiguous attention measured against itself came out at ${ratioText(noise)}: something else was busy. Run again when it is quiet. ${right}`,
    };
  }
  const own = pagedRows(result, 'random').find(({ blockSize }) => blockSize === shape.blockSize);
  if (result.adapter.fallback) {
    return { title: 'The kernels are right on this adapter', text: `${right} On this CPU: ${tableWords(result)}` };
  }
  const title = !own
    ? 'Measured'
    : own.real
      ? `Blocks of ${shape.blockSize} ${own.ratio.median > 1 ? 'cost' : 'gain'} ${percentText(Math.abs(own.ratio.median - 1))} of the attention kernel’s time here`
      : `Blocks of ${shape.blockSize} cost nothing that can be measured here`;
  return { title, text: `${tableWords(result)} ${right}` };
}

/** What of it is the table, and what is where the blocks lie. */
function tableWords(result: BenchResult): string {
  const { blockSize } = result.shape;
  const of = (order: Row['order']) => pagedRows(result, order).find((row) => row.blockSize === blockSize);
  const [ordered, scattered] = [of('sequential'), of('random')];
  if (!ordered || !scattered) {
    return '';
  }
  const part = ({ real, ratio }: Row): string =>
    real ? `${ratioText(ratio)} × contiguous` : `no measurable difference (${ratioText(ratio)})`;
  return `Going through the table, blocks in order: ${part(ordered)}; blocks scattered as well: ${part(scattered)}.`;
}

/** Room in last blocks that nothing fills, for the lengths that were measured. */
export function tailShare(mean: number, blockSize: number): number {
  const half = (blockSize - 1) / 2;
  return half / (mean + half);
}

/** Which block size, by these times and what the launch's own pool wastes with it. */
export function advice(result: BenchResult, study: readonly BlockSizeRow[] | undefined): string | undefined {
  const rows = [...pagedRows(result, 'random')].sort((a, b) => a.blockSize - b.blockSize);
  const fastest = rows.toSorted((a, b) => a.ratio.median - b.ratio.median)[0];
  if (!fastest || result.adapter.fallback || isNoisy(result)) {
    return undefined;
  }
  const smallest = rows.find(({ ratio }) => ratio.low <= fastest.ratio.high) ?? fastest;
  const mean = result.shape.tokens / Math.max(1, result.shape.sequences);
  const waste =
    study?.find(({ blockSize }) => blockSize === smallest.blockSize)?.tailWaste ?? tailShare(mean, smallest.blockSize);
  return (
    `On this GPU blocks of ${smallest.blockSize} are the smallest that are not measurably slower than the fastest ` +
    `(${fastest.blockSize}); their last ones leave ${percentText(waste)} of the memory empty` +
    `${study ? ' with the launch’s workload' : ''}. Smaller blocks also find more of a shared prefix.`
  );
}
