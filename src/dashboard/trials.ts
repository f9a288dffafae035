/** What was tried on launches that are not shown now: looking at another one loses nothing. */
import type { Followed } from './followed';
import type { WhatIf } from './protocol';

export interface Trials {
  of(launch: Followed): WhatIf;
  keep(launch: Followed, whatIf: WhatIf): void;
}

/** Launches; the one that was tried on longest ago goes first. */
const MOST = 100;

export function createTrials(): Trials {
  const kept = new Map<string, WhatIf>();
  return {
    of: (launch) => kept.get(keyOf(launch)) ?? {},
    keep(launch, whatIf) {
      const key = keyOf(launch);
      kept.delete(key);
      if (Object.values(whatIf).some((text) => text !== '')) {
        kept.set(key, whatIf);
      }
      for (const oldest of [...kept.keys()].slice(0, Math.max(0, kept.size - MOST))) {
        kept.delete(oldest);
      }
    },
  };
}

const keyOf = ({ document, index, sighting }: Followed): string =>
  `${sighting?.name ?? index} ${document.uri.toString()}`;
