/** A figure as a row: its value, its formula in symbols, the same with numbers in, and where the numbers came from. */
import type { Figure, Origin } from '../core/figure';
import { clean, type Row } from './document';
import { exactBytes, isEstimated, wordsOf } from './numbers';

export function rowOf(label: string, figure: Figure): Row {
  const { symbols, numbers, origins } = figure.explain();
  const value = figure.unit === 'bytes' && !isEstimated(figure) ? exactBytes(figure.value) : wordsOf(figure);
  return { label, value, how: [symbols, numbers, originsText(origins)].filter(Boolean).map(clean) };
}

/** Remarks first, then what was read: `one slab each; from max-model-len 8192, line 9`. */
function originsText(origins: readonly Origin[]): string {
  const unique = (of: readonly Origin[]) => [...new Set(of.map(shortOrigin))].join('; ');
  const remarks = unique(origins.filter(told));
  const read = unique(origins.filter((o) => !told(o)));
  return [remarks, read && `from ${read}`].filter(Boolean).join('; ');
}

/** The catalogue's own sources stand once, with the model. */
export const shortOrigin = ({ kind, text }: Origin): string =>
  kind === 'catalogue' ? text.replace(/: catalogue: .*$/, ' (catalogue)') : text;

/** Said by the plan itself, not read anywhere. */
const told = ({ kind }: Origin): boolean => kind === 'derived' || kind === 'estimate';
