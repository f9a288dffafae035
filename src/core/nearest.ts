/** `Did you mean`: names within a bounded edit distance. */

/**
 * Levenshtein distance with early exit: undefined when it is more than `most`.
 * Bands of width 2 × most + 1 make it O(length × most).
 */
export function editDistance(a: string, b: string, most: number): number | undefined {
  if (Math.abs(a.length - b.length) > most) {
    return undefined;
  }
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const current = new Array<number>(b.length + 1).fill(most + 1);
    current[0] = i;
    let best = i;
    for (let j = Math.max(1, i - most); j <= Math.min(b.length, i + most); j++) {
      const replace = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const value = Math.min(replace, (previous[j] ?? most + 1) + 1, (current[j - 1] ?? most + 1) + 1);
      current[j] = value;
      best = Math.min(best, value);
    }
    if (best > most) {
      return undefined;
    }
    previous = current;
  }
  const distance = previous[b.length] ?? most + 1;
  return distance <= most ? distance : undefined;
}

/** The `n` candidates nearest to `text` (compared by `key`), nearest first, none further than a third of its length. */
export function nearest(
  text: string,
  candidates: readonly string[],
  n: number,
  key: (name: string) => string,
): string[] {
  const wanted = key(text);
  const most = Math.max(2, Math.floor(wanted.length / 3));
  return candidates
    .map((name) => ({ name, distance: editDistance(wanted, key(name), most) }))
    .filter((c): c is { name: string; distance: number } => c.distance !== undefined)
    .sort((a, b) => a.distance - b.distance || a.name.localeCompare(b.name))
    .slice(0, n)
    .map((c) => c.name);
}
