/** Lines of public TGI logs: none of them states what its numbers follow from, so they are printed with their notes. */

import { otherLogs, replayed } from './other-logs';
import type { LogResult } from './outcome';

export const replayTgi = (): readonly LogResult[] =>
  replayed(
    otherLogs((engine) => engine === 'tgi'),
    ({ id }) => ({ id, outcome: 'cannot tell', detail: 'KV bytes not stated' }),
  );
