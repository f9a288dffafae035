// biome-ignore-all lint/style/noNonNullAssertion: typed arrays; every index is in range by construction
import { openRuns } from './prefix';
import { createDeque, type Deque, popFront, pushBack } from './queues';
import {
  insertPrefix,
  lockPath,
  matchPrefix,
  pathPages,
  type RadixCache,
  type RadixMatch,
  type RadixNode,
} from './radix';
import { evictTokens } from './radix-eviction';
import type { Traffic } from './traffic';

/** The pages one request has: its beginning is the tree's, the rest its own. */
interface Holding {
  pages: Int32Array;
  count: number;
  /** Tokens of its beginning that are in the tree, and the node they end at. */
  inTree: number;
  node: RadixNode;
}

/** Pages of tokens handed out first in, first out; what is missing is evicted from the tree. */
export interface PageKeeper {
  readonly tree: RadixCache;
  readonly caching: boolean;
  readonly free: Deque;
  readonly holdings: (Holding | undefined)[];
  scratch: Int32Array;
}

export function createPageKeeper(tree: RadixCache, pages: number, caching: boolean): PageKeeper {
  const free = createDeque();
  for (let page = 1; page <= pages; page++) {
    pushBack(free, page);
  }
  return { tree, caching, free, holdings: [], scratch: new Int32Array(1024) };
}

function release(keeper: PageKeeper, pages: Int32Array): void {
  for (const page of pages) {
    pushBack(keeper.free, page);
  }
}

/** Evicts what is missing of `tokens` free tokens. */
export function makeFree(keeper: PageKeeper, tokens: number): void {
  const { tree, free } = keeper;
  const missing = tokens - free.size * tree.pageSize;
  if (missing > 0) {
    evictTokens(tree, missing, (pages) => release(keeper, pages));
  }
}

/** A request starts on a locked path of the tree. */
export function openHolding(keeper: PageKeeper, request: number, { node, tokens }: RadixMatch, length: number): void {
  const pages = new Int32Array(Math.ceil(length / keeper.tree.pageSize) + 8);
  keeper.holdings[request] = { pages, count: pathPages(node, pages), inTree: tokens, node };
}

/** Gives back what is the request's own; its beginning in the tree becomes evictable. */
export function closeHolding(keeper: PageKeeper, request: number): void {
  const holding = keeper.holdings[request]!;
  release(keeper, holding.pages.slice(holding.inTree / keeper.tree.pageSize, holding.count));
  lockPath(keeper.tree, holding.node, -1);
  keeper.holdings[request] = undefined;
}

/** Pages up to `length` tokens, evicting from the tree as needed; false when even that is not enough. */
export function growHolding(keeper: PageKeeper, request: number, length: number): boolean {
  const holding = keeper.holdings[request]!;
  const { pageSize } = keeper.tree;
  const need = Math.ceil(length / pageSize) - holding.count;
  makeFree(keeper, need * pageSize);
  if (need > keeper.free.size) {
    return false;
  }
  if (holding.pages.length < holding.count + need) {
    const larger = new Int32Array(Math.max(holding.count + need, holding.pages.length * 2));
    larger.set(holding.pages.subarray(0, holding.count));
    holding.pages = larger;
  }
  for (let i = 0; i < need; i++) {
    holding.pages[holding.count++] = popFront(keeper.free);
  }
  return true;
}

/**
 * Puts what is computed into the tree. Where the tree had it already, the request's own pages are duplicates: they are
 * freed, and its table is rewritten to the tree's.
 */
export function storeHolding(keeper: PageKeeper, traffic: Traffic, request: number, length: number): void {
  const { tree } = keeper;
  const p = tree.pageSize;
  const whole = length - (length % p);
  if (!keeper.caching || whole === 0) {
    return;
  }
  const holding = keeper.holdings[request]!;
  const namespace = namespaceOf(traffic, request);
  const own = holding.pages.subarray(0, holding.count);
  const present = insertPrefix(tree, openRuns(traffic, request, length), own, namespace, traffic.priorities[request]!);
  release(keeper, holding.pages.slice(holding.inTree / p, Math.max(holding.inTree, present) / p));
  const found = matchPrefix(tree, openRuns(traffic, request, whole), namespace);
  lockPath(tree, found.node, 1);
  lockPath(tree, holding.node, -1);
  holding.node = found.node;
  holding.inTree = found.tokens;
  if (keeper.scratch.length < holding.pages.length) {
    keeper.scratch = new Int32Array(holding.pages.length * 2);
  }
  holding.pages.set(keeper.scratch.subarray(0, pathPages(found.node, keeper.scratch)));
}

export function heldPages(keeper: PageKeeper, request: number): Int32Array {
  const holding = keeper.holdings[request];
  return holding ? holding.pages.subarray(0, holding.count) : new Int32Array(0);
}

/** Adapter and salt keep their own trees. */
export function namespaceOf({ adapters, salts }: Traffic, request: number): string {
  const adapter = adapters[request]!;
  const salt = salts[request]!;
  return adapter === 0 && salt === 0 ? '' : `${adapter}/${salt}|`;
}
