/** Contiguous against paged, on the same bytes. */
import type { Capacity, Waste } from '../core/capacity/capacity';
import type { Figure } from '../core/figure';
import { formatBytes, withCommas } from '../core/units';
import type { Block, Section } from './document';
import { numberOf, wordsOf } from './numbers';

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
  const rows: Block = {
    kind: 'rows',
    rows: [
      ...(capacity.longestContext
        ? [{ label: 'Longest context that fits', value: wordsOf(capacity.longestContext) }]
        : []),
      { label: 'At random points of their life', value: wordsOf(capacity.steadyState) },
      ...(capacity.engineLimit ? [{ label: 'Limit of the engine', value: wordsOf(capacity.engineLimit) }] : []),
    ],
  };
  return { title: 'Requests at once', blocks: [table, rows] };
}
