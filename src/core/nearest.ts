/** `Did you mean`: names within a bounded edit distance. */

/**
 * Edits from one text to the other, two swapped neighbours counting as one: undefined when they are more than `most`.
 * Only a band of 2 × most + 1 around the diagonal is filled: O(length × most).
 */
function editDistance(a: string, b: string, most: number): number | undefined {
  if (Math.abs(a.length - b.length) > most) {
    return undefined;
  }
  const far = most + 1;
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const current = new Array<number>(b.length + 1).fill(far);
    current[0] = i;
    for (let j = Math.max(1, i - most); j <= Math.min(b.length, i + most); j++) {
      const same = a[i - 1] === b[j - 1];
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      current[j] = Math.min(
        (previous[j - 1] ?? far) + (same ? 0 : 1),
        (previous[j] ?? far) + 1,
        (current[j - 1] ?? far) + 1,
        swapped ? (before[j - 2] ?? far) + 1 : far,
      );
    }
    if (Math.min(...current) > most) {
      return undefined;
    }
    before = previous;
    previous = current;
  }
  const distance = previous[b.length] ?? far;
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
