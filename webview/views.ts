/** The tabs, in their order. A view is one line here. */
import { benchTab } from './bench/view';
import { capacityTab } from './capacity/view';
import { compareTab } from './compare/view';
import { learnTab } from './learn/view';
import { poolTab } from './pool/view';
import { prefixTab } from './prefix/view';
import type { ViewMaker } from './view';

export const VIEWS: readonly ViewMaker[] = [capacityTab, poolTab, learnTab, prefixTab, compareTab, benchTab];
