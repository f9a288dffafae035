import type { TextEdit } from '../../../src/launch/edit';

/** The text after the edits, as an editor makes it. */
export const apply = (text: string, edits: readonly TextEdit[]): string =>
  [...edits]
    .sort((a, b) => b.range.start - a.range.start)
    .reduce((t, e) => t.slice(0, e.range.start) + e.text + t.slice(e.range.end), text);
