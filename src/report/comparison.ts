/** Contiguous against paged, on the same bytes. */
import type { Capacity, LengthPoint, Waste } from '../core/capacity/capacity';
import type { Figure } from '../core/figure';
import { formatBytes, withCommas } from '../core/units';
import { type Plan, requestsByLength } from '../planner';
import type { Bar, Block, Row, Section } from './document';
import { numberOf, wordsOf } from './numbers';
import { rowOf } from './rows';

export function comparison(capacity: Capacity): Section {
  const { contiguous, paged } = capacity;
  const both = (label: string, pick: (side: typeof contiguous | typeof paged) => Figure): string[] => [
    label,
    numberOf(pick(contiguous)),
    numberOf(pick(paged)),
  ];
  const waste = (label: string, kind: keyof Waste): string[] => [
    label,
    formatBytes(Math.round(contiguous.waste[kind])),
    formatBytes(Math.round(paged.waste[kind])),
  ];
  const { prompt, output } = capacity.workload;
  const table: Block = {
    kind: 'table',
    columns: [
      { title: `One request of ${withCommas(prompt)} + ${withCommas(output)} tokens` },
      { title: 'Contiguous', numeric: true },
      { title: 'Paged', numeric: true },
    ],
    rows: [
      both('Requests that fit, memory alone', (side) => side.requests),
      ['Blocks per request', '', numberOf(paged.blocksPerRequest)],
      ['Empty slots in its last block', '', wordsOf(paged.tailTokens)],
      both('Set aside per request, per GPU', (side) => side.bytesPerRequest),
      both('Share of it in use', (side) => side.usedShare),
      waste('The pool of one GPU, full of them', 'pool'),
      waste('  keys and values', 'payload'),
      waste('  wasted at the end of last blocks', 'tail'),
      waste('  wasted on padding', 'padding'),
      waste('  wasted on tokens that never come', 'reservation'),
      waste('  left over', 'fragmentation'),
    ],
  };
  return { title: 'Requests at once', blocks: [table] };
}

/** How the answers come about, one after the other. */
export function steps(capacity: Capacity): Section {
  const { contiguous, paged, steadyState, engineLimit, fits, longestContext, transferBytes } = capacity;
  const length = `${withCommas(capacity.maxLength)} tokens`;
  return {
    title: 'How many, step by step',
    blocks: [
      {
        kind: 'rows',
        rows: [
          rowOf(`One slab of ${length}, per GPU`, contiguous.bytesPerRequest),
          rowOf('Slabs that fit', contiguous.requests),
          rowOf('Blocks of one request', paged.blocksPerRequest),
          rowOf('Requests whose blocks fit', paged.requests),
          ...(engineLimit ? [rowOf('Limit of the engine', engineLimit)] : []),
          rowOf('So many fit', fits),
          rowOf('At random points of their life', steadyState),
          rowOf(`All of ${length}: none preempts another`, paged.requestsAtMaxLength),
          rowOf('One GiB more on every GPU holds', paged.requestsPerGiB),
          ...(longestContext ? [longestRow(longestContext)] : []),
          ...(transferBytes ? [rowOf('Handed to a decode server for one prompt', transferBytes)] : []),
        ],
      },
    ],
  };
}

/** Where nothing grows with the length, no length is the longest. */
const ANY_LENGTH = 2 ** 31;

const longestRow = (figure: Figure): Row =>
  figure.value < ANY_LENGTH
    ? rowOf('Longest context that fits', figure)
    : { label: 'Longest context that fits', value: 'any: a request holds as many blocks however long it is' };

/** Requests that fit at lengths from short to the longest, memory alone. */
export function byLength(plan: Plan): Section | undefined {
  const points = plan.capacity ? requestsByLength(plan, roundLengths(plan.capacity.maxLength)) : [];
  return points.length < 2
    ? undefined
    : {
        title: 'Requests by length',
        blocks: [
          {
            kind: 'table',
            columns: [
              { title: 'Tokens of each request', numeric: true },
              { title: 'Contiguous', numeric: true },
              { title: 'Paged', numeric: true },
            ],
            rows: points.map((p) => [withCommas(p.length), withCommas(p.contiguous), withCommas(p.paged)]),
          },
          { kind: 'chart', caption: 'Paged, and below it contiguous', bars: points.flatMap(pairOf(points)) },
        ],
      };
}

/** Two bars of one length, as shares of the most that fit at any. */
function pairOf(points: readonly LengthPoint[]): (point: LengthPoint) => readonly Bar[] {
  const most = Math.max(1, ...points.flatMap((p) => [p.paged, p.contiguous]));
  return ({ length, paged, contiguous }) => [
    { label: withCommas(length), value: withCommas(paged), share: paged / most },
    { label: '', value: withCommas(contiguous), share: contiguous / most },
  ];
}

/** Doubling, up to the longest. */
function roundLengths(maxLength: number): readonly number[] {
  const lengths: number[] = [];
  for (let length = 512; length < maxLength; length *= 2) {
    lengths.push(length);
  }
  return [...lengths, maxLength];
}
