/** Where a launch is among those that its file has now: others may have come before it, and it may be gone. */

/** What was seen of a launch when it was last looked at. */
export interface Sighting {
  readonly name: string;
  /** How many launches the file had. */
  readonly of: number;
}

export interface Place {
  readonly index: number;
  /** It is not in the file any more; the index is of one nearby. */
  readonly gone: boolean;
}

/** Undefined where there is none at all. */
export function placeOf(
  titles: readonly string[],
  { index, sighting }: { readonly index: number; readonly sighting?: Sighting },
): Place | undefined {
  const last = titles.length - 1;
  const named = sighting ? titles.findIndex((_, i) => nameOf(titles, i) === sighting.name) : -1;
  if (last < 0 || named >= 0) {
    return last < 0 ? undefined : { index: named, gone: false };
  }
  // Under another name: it was renamed where there are as many as there were.
  const gone = index > last || (sighting !== undefined && sighting.of !== titles.length);
  return { index: Math.min(index, last), gone };
}

export const sightingOf = (titles: readonly string[], index: number): Sighting => ({
  name: nameOf(titles, index),
  of: titles.length,
});

/** Its title alone. */
export const titleIn = ({ name }: Sighting): string => name.slice(name.indexOf(' ') + 1);

/** What tells a launch from the others of its file, wherever it stands: its title, and which of that title it is. */
const nameOf = (titles: readonly string[], index: number): string => {
  const title = titles[index] ?? '';
  return `${titles.slice(0, index).filter((other) => other === title).length} ${title}`;
};
