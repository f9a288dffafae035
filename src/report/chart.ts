/** Bars made of characters, to an eighth of one, for faces without pictures. */
import type { Bar } from './document';

const WIDTH = 40;
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'] as const;

/** `weights      █████████▍  17.02 GiB`: one line each, labels and bars aligned. */
export function chartLines(bars: readonly Bar[]): readonly string[] {
  const room = Math.max(...bars.map((bar) => bar.label.length));
  return bars.map(({ label, value, share }) => `${label.padEnd(room)}  ${barOf(share)} ${value}`.trimEnd());
}

/** What is there at all can be seen: no bar of something is empty. */
function barOf(share: number): string {
  const eighths = Math.round(Math.min(1, Math.max(0, share)) * WIDTH * 8);
  const shown = share > 0 ? Math.max(1, eighths) : 0;
  return '█'.repeat(Math.floor(shown / 8)) + EIGHTHS[shown % 8];
}
