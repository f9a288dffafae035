/** Edits made one after the other, as edits of the text they began with. */
import type { TextEdit } from './edit';

/** What the text consists of by now: stretches of the first text, and what was written between them. */
type Piece = { readonly start: number; readonly end: number } | string;

export interface Edited {
  readonly text: string;
  readonly pieces: readonly Piece[];
}

export const unedited = (text: string): Edited => ({ text, pieces: [{ start: 0, end: text.length }] });

/** `edits` are of the text as it is by now. */
export function edit(now: Edited, edits: readonly TextEdit[]): Edited {
  return [...edits]
    .sort((a, b) => b.range.start - a.range.start)
    .reduce(
      ({ text, pieces }, { range, text: put }) => ({
        text: text.slice(0, range.start) + put + text.slice(range.end),
        pieces: [...cut(pieces, 0, range.start), put, ...cut(pieces, range.end, text.length)],
      }),
      now,
    );
}

const sizeOf = (piece: Piece): number => (typeof piece === 'string' ? piece.length : piece.end - piece.start);

function cut(pieces: readonly Piece[], from: number, to: number): readonly Piece[] {
  let at = 0;
  return pieces.flatMap((piece): readonly Piece[] => {
    const start = Math.max(from - at, 0);
    const end = Math.min(to - at, sizeOf(piece));
    at += sizeOf(piece);
    if (end <= start) {
      return [];
    }
    return [
      typeof piece === 'string' ? piece.slice(start, end) : { start: piece.start + start, end: piece.start + end },
    ];
  });
}

/** What differs from the first text, of `length` characters: one edit for each gap between its stretches. */
export function editsOf({ pieces }: Edited, length: number): readonly TextEdit[] {
  const edits: TextEdit[] = [];
  let at = 0;
  let put = '';
  const gap = (until: number) => {
    if (put !== '' || until > at) {
      edits.push({ range: { start: at, end: until }, text: put });
    }
    put = '';
  };
  for (const piece of pieces) {
    if (typeof piece === 'string') {
      put += piece;
    } else {
      gap(piece.start);
      at = piece.end;
    }
  }
  gap(length);
  return edits;
}
