// biome-ignore-all lint/style/noNonNullAssertion: typed arrays; every index is in range by construction
import { createHeap, popHeap, pushHeap } from './queues';
import type { Watch } from './watch';

/** One full block's content in the reuse tree; on the device, or offloaded to the host. */
export interface Entry {
  readonly key: string;
  parent: Entry | undefined;
  readonly children: Map<string, Entry>;
  /** Device block, or −1 when it lies on the host. */
  block: number;
  references: number;
  priority: number;
  /** When a priority given for a time falls back to the default; Infinity: never. */
  expires: number;
  /** Whose tokens it holds, and from where: for partial matches. */
  readonly request: number;
  readonly start: number;
  alive: boolean;
  // neighbours in the list it waits in, while nobody refers to it
  before: Entry | undefined;
  after: Entry | undefined;
  readonly order: number;
}

interface Line {
  head: Entry | undefined;
  tail: Entry | undefined;
}

export interface ReuseTreeOptions {
  /** Blocks on the device. */
  readonly blocks: number;
  readonly hostBlocks?: number;
  /** secondary_offload_min_priority: blocks below are dropped, not offloaded. */
  readonly offloadPriority?: number;
}

export const DEFAULT_PRIORITY = 35;
const LEVELS = 101;

/**
 * TensorRT-LLM's block reuse (cpp/tensorrt_llm/batch_manager/kvCacheManager.cpp and evictionPolicy.cpp, 1.0): a tree of
 * full blocks; blocks nobody refers to wait in 101 priority levels, least recently used first within a level; whoever is
 * taken leaves the tree with what hangs below it, or goes to the host if it is worth keeping and there is room.
 */
export interface ReuseTree {
  readonly root: Entry;
  readonly blocks: number;
  /** Device blocks that hold nothing, as a stack. */
  readonly empty: number[];
  readonly levels: readonly Line[];
  /** Entries waiting on the device. */
  waiting: number;
  readonly hostBlocks: number;
  readonly hostLine: Line;
  hostUsed: number;
  readonly offloadPriority: number;
  evictions: number;
  watch?: Watch;
  offloads: number;
  onboards: number;
  made: number;
  readonly expiries: ReturnType<typeof createHeap>;
  readonly expiring: Entry[];
}

export function createReuseTree(options: ReuseTreeOptions): ReuseTree {
  const { blocks, hostBlocks = 0, offloadPriority = 30 } = options;
  const expiring: Entry[] = [];
  return {
    root: createEntry('', undefined, -1, -1, 0, 0),
    blocks,
    empty: Array.from({ length: blocks }, (_, i) => blocks - i),
    levels: Array.from({ length: LEVELS }, () => ({ head: undefined, tail: undefined })),
    waiting: 0,
    hostBlocks,
    hostLine: { head: undefined, tail: undefined },
    hostUsed: 0,
    offloadPriority,
    evictions: 0,
    offloads: 0,
    onboards: 0,
    made: 0,
    expiries: createHeap((a, b) => (expiring[a]!.expires - expiring[b]!.expires || a - b) < 0),
    expiring,
  };
}

function createEntry(
  key: string,
  parent: Entry | undefined,
  block: number,
  request: number,
  start: number,
  order: number,
): Entry {
  return {
    key,
    parent,
    children: new Map(),
    block,
    references: 0,
    priority: DEFAULT_PRIORITY,
    expires: Number.POSITIVE_INFINITY,
    request,
    start,
    alive: true,
    before: undefined,
    after: undefined,
    order,
  };
}

/** Blocks that can be had: empty ones and those nobody refers to. */
export const freeBlocks = (tree: ReuseTree): number => tree.empty.length + tree.waiting;

function append(line: Line, entry: Entry): void {
  entry.before = line.tail;
  entry.after = undefined;
  if (line.tail) {
    line.tail.after = entry;
  } else {
    line.head = entry;
  }
  line.tail = entry;
}

function unlink(line: Line, entry: Entry): void {
  if (entry.before) {
    entry.before.after = entry.after;
  } else {
    line.head = entry.after;
  }
  if (entry.after) {
    entry.after.before = entry.before;
  } else {
    line.tail = entry.before;
  }
  entry.before = undefined;
  entry.after = undefined;
}

const lineOf = (tree: ReuseTree, entry: Entry): Line =>
  entry.block < 0 ? tree.hostLine : tree.levels[entry.priority]!;

function wait(tree: ReuseTree, entry: Entry): void {
  append(lineOf(tree, entry), entry);
  tree.waiting += entry.block < 0 ? 0 : 1;
}

function stopWaiting(tree: ReuseTree, entry: Entry): void {
  unlink(lineOf(tree, entry), entry);
  tree.waiting -= entry.block < 0 ? 0 : 1;
}

/** Puts a request's own full block into the tree under `parent`; the request refers to it. */
export function storeEntry(
  tree: ReuseTree,
  parent: Entry,
  key: string,
  block: number,
  text: { readonly request: number; readonly start: number; readonly priority: number; readonly expires: number },
): Entry {
  const entry = createEntry(key, parent, block, text.request, text.start, ++tree.made);
  entry.references = 1;
  entry.priority = text.priority;
  entry.expires = text.expires;
  parent.children.set(key, entry);
  if (text.expires < Number.POSITIVE_INFINITY) {
    tree.expiring.push(entry);
    pushHeap(tree.expiries, tree.expiring.length - 1);
  }
  return entry;
}

/** Priorities given for a time fall back to the default. */
export function expirePriorities(tree: ReuseTree, now: number): void {
  const { expiries, expiring } = tree;
  while (expiries.size > 0 && expiring[expiries.items[0]!]!.expires <= now) {
    const entry = expiring[popHeap(expiries)]!;
    const moves = entry.alive && entry.references === 0 && entry.block >= 0;
    if (moves) {
      unlink(lineOf(tree, entry), entry);
    }
    entry.priority = DEFAULT_PRIORITY;
    entry.expires = Number.POSITIVE_INFINITY;
    if (moves) {
      append(lineOf(tree, entry), entry);
    }
  }
}

/** One more request refers to it. The caller has brought it back from the host if it lay there. */
export function referTo(tree: ReuseTree, entry: Entry): void {
  if (entry.references++ === 0) {
    stopWaiting(tree, entry);
  }
}

/** One request less; an entry that has left the tree meanwhile leaves an empty block. */
export function letGo(tree: ReuseTree, entry: Entry): void {
  if (--entry.references > 0) {
    return;
  }
  if (entry.alive) {
    wait(tree, entry);
  } else {
    tree.empty.push(entry.block);
  }
}

/** A block to write into: an empty one, or the least worth keeping. −1 when every block is referred to. */
export function takeDeviceBlock(tree: ReuseTree): number {
  const block = tree.empty.pop();
  if (block !== undefined) {
    return block;
  }
  const entry = leastWorth(tree);
  if (!entry) {
    return -1;
  }
  const taken = entry.block;
  if (entry.priority >= tree.offloadPriority && tree.hostBlocks > 0) {
    offload(tree, entry);
  } else {
    drop(tree, entry);
  }
  tree.evictions++;
  tree.watch?.evicted.push(taken);
  return taken;
}

function leastWorth(tree: ReuseTree): Entry | undefined {
  for (const line of tree.levels) {
    if (line.head) {
      return line.head;
    }
  }
  return undefined;
}

function offload(tree: ReuseTree, entry: Entry): void {
  stopWaiting(tree, entry);
  if (tree.hostUsed === tree.hostBlocks) {
    entry.references = 1; // its block is taken already: if it goes with what the host gives up, only the content goes
    drop(tree, tree.hostLine.head!);
    entry.references = 0;
  }
  if (!entry.alive) {
    return;
  }
  entry.block = -1;
  tree.hostUsed++;
  tree.offloads++;
  append(tree.hostLine, entry);
}

/** Brings an offloaded entry back into a device block. */
export function onboard(tree: ReuseTree, entry: Entry, block: number): void {
  unlink(tree.hostLine, entry);
  tree.hostUsed--;
  tree.onboards++;
  entry.block = block;
  append(lineOf(tree, entry), entry);
  tree.waiting++;
}

/** Takes an entry out of the tree, with everything below it: it could not be reached any more. */
function drop(tree: ReuseTree, entry: Entry): void {
  for (const child of [...entry.children.values()]) {
    drop(tree, child);
    if (child.block >= 0 && child.references === 0) {
      tree.empty.push(child.block);
    }
  }
  if (isWaiting(tree, entry)) {
    stopWaiting(tree, entry);
  }
  tree.hostUsed -= entry.block < 0 ? 1 : 0;
  entry.alive = false;
  entry.parent?.children.delete(entry.key);
}

const isWaiting = (tree: ReuseTree, entry: Entry): boolean =>
  entry.before !== undefined || lineOf(tree, entry).head === entry;

/** Takes an entry nobody refers to out of the tree and hands over its block: a partial match that is taken over. */
export function takeOver(tree: ReuseTree, entry: Entry): number {
  const { block } = entry;
  drop(tree, entry);
  return block;
}

/** All entries, parents before children; not the root. */
export function* entriesOf(entry: Entry): Generator<Entry> {
  for (const child of entry.children.values()) {
    yield child;
    yield* entriesOf(child);
  }
}
