/** Which launch a place in the text belongs to. */
import type { Launch } from './launch';

/** Index of the launch that holds an offset; else of the last that begins before it; else the first. −1 when there is none. */
export function launchAt(launches: readonly Pick<Launch, 'range'>[], offset: number): number {
  const inside = launches.findIndex(({ range }) => offset >= range.start && offset <= range.end);
  if (inside >= 0) {
    return inside;
  }
  const before = launches.findLastIndex(({ range }) => range.start <= offset);
  return before >= 0 || launches.length === 0 ? before : 0;
}
