// biome-ignore-all lint/style/noNonNullAssertion: typed arrays; every index is in range by construction
import type { RadixCache, RadixNode } from './radix';

/** What is evicted first has the smallest rank. */
function rankOf(cache: RadixCache, node: RadixNode): readonly [number, number] {
  switch (cache.policy) {
    case 'lfu':
      return [node.hits, node.access];
    case 'slru':
      return [node.hits >= 2 ? 1 : 0, node.access];
    case 'priority':
      return [node.priority, node.access];
    case 'fifo':
      return [node.created, 0];
    case 'mru':
      return [-node.access, 0];
    case 'filo':
      return [-node.created, 0];
    default:
      return [node.access, 0];
  }
}

const isEvictable = (node: RadixNode): boolean =>
  node.alive && node.locks === 0 && node.children.size === 0 && node.parent !== undefined;

const comesFirst = (a: RadixNode, b: RadixNode): boolean =>
  a.queued![0] !== b.queued![0] ? a.queued![0] < b.queued![0] : a.queued![1] < b.queued![1];

/** Leaves wait in a heap under the rank they had; whoever is taken out with an old rank goes back in. */
export function requeue(cache: RadixCache, node: RadixNode): void {
  if (node.queued || !isEvictable(node)) {
    return;
  }
  node.queued = rankOf(cache, node);
  const { queue } = cache;
  queue.push(node);
  for (let at = queue.length - 1; at > 0; ) {
    const parent = (at - 1) >> 1;
    if (!comesFirst(node, queue[parent]!)) {
      break;
    }
    queue[at] = queue[parent]!;
    queue[parent] = node;
    at = parent;
  }
}

function takeFirst(queue: RadixNode[]): RadixNode | undefined {
  const top = queue[0];
  const last = queue.pop();
  if (top && last && queue.length > 0) {
    let at = 0;
    for (;;) {
      let child = at * 2 + 1;
      if (child >= queue.length) {
        break;
      }
      if (child + 1 < queue.length && comesFirst(queue[child + 1]!, queue[child]!)) {
        child++;
      }
      if (!comesFirst(queue[child]!, last)) {
        break;
      }
      queue[at] = queue[child]!;
      at = child;
    }
    queue[at] = last;
  }
  return top;
}

/** Removes whole leaves until at least `tokens` are free; may free more. Tells how many. */
export function evictTokens(cache: RadixCache, tokens: number, freePages: (pages: Int32Array) => void): number {
  let freed = 0;
  while (freed < tokens) {
    const node = takeFirst(cache.queue);
    if (!node) {
      break;
    }
    const [rank, tie] = node.queued!;
    node.queued = undefined;
    if (!isEvictable(node)) {
      continue;
    }
    const [current, currentTie] = rankOf(cache, node);
    if (current !== rank || currentTie !== tie) {
      requeue(cache, node);
      continue;
    }
    freed += node.tokens;
    node.pages.forEach((page) => {
      cache.watch?.evicted.push(page);
    });
    freePages(node.pages);
    remove(cache, node);
  }
  return freed;
}

function remove(cache: RadixCache, node: RadixNode): void {
  const parent = node.parent!;
  node.alive = false;
  parent.children.delete(node.key);
  cache.evictable -= node.tokens;
  cache.evictions += node.tokens / cache.pageSize;
  requeue(cache, parent);
}
