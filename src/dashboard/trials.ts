/** What was tried on launches that are not shown now: looking at another one loses nothing. */
import type { Uri } from 'vscode';
import type { Followed } from './followed';
import type { WhatIf } from './protocol';

export interface Trials {
  of(launch: Followed): WhatIf;
  keep(launch: Followed): void;
  /** Files have other names now. */
  move(now: (file: Uri) => Uri): void;
}

/** Launches; the one that was left longest ago goes first. */
const MOST = 100;

interface Kept {
  readonly launch: string;
  readonly file: Uri;
  readonly whatIf: WhatIf;
}

export function createTrials(): Trials {
  let kept: readonly Kept[] = [];
  const isOf = ({ document, index, sighting }: Followed, { launch, file }: Kept): boolean =>
    launch === nameOf({ index, sighting }) && file.toString() === document.uri.toString();
  return {
    of: (launch) => kept.find((one) => isOf(launch, one))?.whatIf ?? {},
    keep(launch) {
      const { document, whatIf } = launch;
      const others = kept.filter((one) => !isOf(launch, one));
      const isTried = Object.values(whatIf).some((text) => text !== '');
      kept = [...others, ...(isTried ? [{ launch: nameOf(launch), file: document.uri, whatIf }] : [])].slice(-MOST);
    },
    move(now) {
      kept = kept.map((one) => ({ ...one, file: now(one.file) }));
    },
  };
}

const nameOf = ({ index, sighting }: Pick<Followed, 'index' | 'sighting'>): string => sighting?.name ?? String(index);
