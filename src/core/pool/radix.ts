// biome-ignore-all lint/style/noNonNullAssertion: typed arrays; every index is in range by construction
import { advanceRuns, type RunCursor } from './prefix';
import { requeue } from './radix-eviction';
import type { Watch } from './watch';

export type RadixPolicy = 'lru' | 'lfu' | 'slru' | 'priority' | 'fifo' | 'mru' | 'filo';

/** A stretch of tokens that requests have in common, and the pages that hold its keys and values. */
export interface RadixNode {
  parent: RadixNode | undefined;
  readonly children: Map<string, RadixNode>;
  /** Runs of the stretch: source, first, count, source, … */
  runs: Int32Array;
  tokens: number;
  pages: Int32Array;
  /** Running requests that stand on it or below it. */
  locks: number;
  access: number;
  readonly created: number;
  hits: number;
  priority: number;
  key: string;
  alive: boolean;
  /** The rank it was queued for eviction with; undefined when it is not queued. */
  queued: readonly [number, number] | undefined;
}

/**
 * SGLang's radix tree over cached tokens (mem_cache/radix_cache.py and evict_policy.py at 0.5.18): page aligned, one copy
 * of everything, locked along the path of every running request, evicted leaf by leaf.
 */
export interface RadixCache {
  readonly root: RadixNode;
  readonly pageSize: number;
  readonly policy: RadixPolicy;
  /** Tokens of nodes that nobody has locked, and of those that somebody has. */
  evictable: number;
  locked: number;
  evictions: number;
  watch?: Watch;
  clock: number;
  readonly queue: RadixNode[];
}

export function createRadixCache(pageSize: number, policy: RadixPolicy = 'lru'): RadixCache {
  const root = createNode(undefined, new Int32Array(0), 0, new Int32Array(0), 0, '');
  root.locks = 1;
  return { root, pageSize, policy, evictable: 0, locked: 0, evictions: 0, clock: 0, queue: [] };
}

function createNode(
  parent: RadixNode | undefined,
  runs: Int32Array,
  tokens: number,
  pages: Int32Array,
  clock: number,
  key: string,
): RadixNode {
  return {
    parent,
    children: new Map(),
    runs,
    tokens,
    pages,
    locks: 0,
    access: clock,
    created: clock,
    hits: 0,
    priority: 0,
    key,
    alive: true,
    queued: undefined,
  };
}

/** The next page's tokens, without taking them: children are found by their first page. */
function pageKey(cursor: RunCursor, size: number): string {
  if (size === 1 || cursor.left >= size) {
    return `${cursor.source},${cursor.first}`;
  }
  const ahead = { ...cursor };
  let key = '';
  let source = 0;
  let next = 0;
  for (let taken = 0; taken < size; ) {
    const count = Math.min(ahead.left, size - taken);
    if (taken === 0 || ahead.source !== source || ahead.first !== next) {
      key += `${taken === 0 ? '' : `,${taken};`}${ahead.source},${ahead.first}`;
    }
    source = ahead.source;
    next = ahead.first + count;
    taken += count;
    advanceRuns(ahead, count);
  }
  return key;
}

/** How many tokens of a node the cursor agrees with, whole pages. */
function agreement(node: RadixNode, cursor: RunCursor, pageSize: number): number {
  const ahead = { ...cursor };
  const { runs } = node;
  let common = 0;
  let at = 0;
  let offset = 0;
  while (at < runs.length && ahead.left > 0) {
    if (runs[at] !== ahead.source || runs[at + 1]! + offset !== ahead.first) {
      break;
    }
    const both = Math.min(runs[at + 2]! - offset, ahead.left);
    common += both;
    offset += both;
    if (offset === runs[at + 2]) {
      at += 3;
      offset = 0;
    }
    advanceRuns(ahead, both);
  }
  return common - (common % pageSize);
}

function skipTokens(cursor: RunCursor, tokens: number): void {
  for (let left = tokens; left > 0; ) {
    const count = Math.min(left, cursor.left);
    advanceRuns(cursor, count);
    left -= count;
  }
}

/** Takes `tokens` tokens off the cursor, as runs. */
function takeRuns(cursor: RunCursor, tokens: number): Int32Array {
  const runs: number[] = [];
  for (let left = tokens; left > 0; ) {
    const count = Math.min(left, cursor.left);
    runs.push(cursor.source, cursor.first, count);
    advanceRuns(cursor, count);
    left -= count;
  }
  return Int32Array.from(runs);
}

/** Splits a node after `tokens` tokens; returns the new upper part, with the same locks. */
function split(cache: RadixCache, node: RadixNode, tokens: number): RadixNode {
  const upper: number[] = [];
  const lower: number[] = [];
  let seen = 0;
  for (let at = 0; at < node.runs.length; at += 3) {
    const count = node.runs[at + 2]!;
    const above = Math.max(0, Math.min(count, tokens - seen));
    if (above > 0) {
      upper.push(node.runs[at]!, node.runs[at + 1]!, above);
    }
    if (above < count) {
      lower.push(node.runs[at]!, node.runs[at + 1]! + above, count - above);
    }
    seen += count;
  }
  const pages = tokens / cache.pageSize;
  const parent = node.parent!;
  const head = createNode(parent, Int32Array.from(upper), tokens, node.pages.slice(0, pages), node.created, node.key);
  head.locks = node.locks;
  head.access = node.access;
  head.hits = node.hits;
  head.priority = node.priority;
  parent.children.set(node.key, head);
  node.parent = head;
  node.runs = Int32Array.from(lower);
  node.tokens -= tokens;
  node.pages = node.pages.slice(pages);
  node.key = keyOfRuns(node.runs, cache.pageSize);
  head.children.set(node.key, node);
  return head;
}

/** As `pageKey`, of a node's own first page. */
function keyOfRuns(runs: Int32Array, size: number): string {
  let key = `${runs[0]},${runs[1]}`;
  let taken = Math.min(runs[2]!, size);
  for (let at = 3; taken < size; at += 3) {
    const joins = runs[at] === runs[at - 3] && runs[at + 1] === runs[at - 2]! + runs[at - 1]!;
    key += joins ? '' : `,${taken};${runs[at]},${runs[at + 1]}`;
    taken += Math.min(runs[at + 2]!, size - taken);
  }
  return key;
}

export interface RadixMatch {
  readonly node: RadixNode;
  readonly tokens: number;
}

/**
 * The longest cached prefix of what the cursor has, whole pages; the path is touched, and a node that is matched in part
 * is split there.
 */
export function matchPrefix(cache: RadixCache, cursor: RunCursor, namespace: string): RadixMatch {
  const { pageSize, root } = cache;
  const now = ++cache.clock;
  let node = root;
  let tokens = 0;
  while (cursor.length - cursor.position >= pageSize) {
    const key = (node === root ? namespace : '') + pageKey(cursor, pageSize);
    const child = node.children.get(key);
    if (!child) {
      break;
    }
    child.access = now;
    const common = agreement(child, cursor, pageSize);
    skipTokens(cursor, common);
    tokens += common;
    if (common < child.tokens) {
      node = splitKeepingNamespace(cache, child, common);
      break;
    }
    node = child;
  }
  return { node, tokens };
}

function splitKeepingNamespace(cache: RadixCache, node: RadixNode, tokens: number): RadixNode {
  const head = split(cache, node, tokens);
  requeue(cache, node);
  return head;
}

/** Pages of the path from the root to a node, in order. */
export function pathPages(node: RadixNode, into: Int32Array): number {
  let count = 0;
  for (let at: RadixNode | undefined = node; at; at = at.parent) {
    count += at.pages.length;
  }
  let end = count;
  for (let at: RadixNode | undefined = node; at; at = at.parent) {
    end -= at.pages.length;
    into.set(at.pages, end);
  }
  return count;
}

/**
 * Puts the cursor's tokens (whole pages) with their pages into the tree. Returns how many tokens were there already: the
 * caller's own pages for those are duplicates, to be freed.
 */
export function insertPrefix(
  cache: RadixCache,
  cursor: RunCursor,
  pages: Int32Array,
  namespace: string,
  priority: number,
): number {
  const { pageSize, root } = cache;
  const now = ++cache.clock;
  const whole = cursor.length - (cursor.length % pageSize);
  let node = root;
  let present = 0;
  while (whole - cursor.position >= pageSize) {
    const key = (node === root ? namespace : '') + pageKey(cursor, pageSize);
    const child = node.children.get(key);
    if (!child) {
      const from = cursor.position;
      const runs = takeRuns(cursor, whole - from);
      const leaf = createNode(node, runs, whole - from, pages.slice(from / pageSize, whole / pageSize), now, key);
      leaf.priority = priority;
      node.children.set(key, leaf);
      cache.evictable += leaf.tokens;
      requeue(cache, leaf);
      break;
    }
    child.access = now;
    child.hits++;
    child.priority = Math.max(child.priority, priority);
    const common = Math.min(agreement(child, cursor, pageSize), whole - cursor.position);
    skipTokens(cursor, common);
    present += common;
    node = common < child.tokens ? splitKeepingNamespace(cache, child, common) : child;
  }
  return present;
}

/** One more, or one less, running request on the path to the root. */
export function lockPath(cache: RadixCache, node: RadixNode, change: 1 | -1): void {
  for (let at = node; at.parent; at = at.parent) {
    const before = at.locks;
    at.locks += change;
    if (before === 0 || at.locks === 0) {
      cache.evictable -= change * at.tokens;
      cache.locked += change * at.tokens;
      if (at.locks === 0) {
        requeue(cache, at);
      }
    }
  }
}

/** All nodes, parents before children. */
export function* nodesOf(node: RadixNode): Generator<RadixNode> {
  yield node;
  for (const child of node.children.values()) {
    yield* nodesOf(child);
  }
}
