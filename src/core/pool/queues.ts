// biome-ignore-all lint/style/noNonNullAssertion: typed arrays; every index is in range by construction
import { grown } from './content';

/** A queue of integers, open at both ends. */
export interface Deque {
  items: Int32Array;
  head: number;
  size: number;
}

export const createDeque = (): Deque => ({ items: new Int32Array(256), head: 0, size: 0 });

function growDeque(deque: Deque): void {
  const { items, head, size } = deque;
  const larger = new Int32Array(items.length * 2);
  for (let i = 0; i < size; i++) {
    larger[i] = items[(head + i) & (items.length - 1)]!;
  }
  deque.items = larger;
  deque.head = 0;
}

export function pushBack(deque: Deque, item: number): void {
  if (deque.size === deque.items.length) {
    growDeque(deque);
  }
  deque.items[(deque.head + deque.size++) & (deque.items.length - 1)] = item;
}

export function pushFront(deque: Deque, item: number): void {
  if (deque.size === deque.items.length) {
    growDeque(deque);
  }
  deque.head = (deque.head - 1) & (deque.items.length - 1);
  deque.items[deque.head] = item;
  deque.size++;
}

export const atDeque = (deque: Deque, i: number): number => deque.items[(deque.head + i) & (deque.items.length - 1)]!;

export function popFront(deque: Deque): number {
  const item = deque.items[deque.head]!;
  deque.head = (deque.head + 1) & (deque.items.length - 1);
  deque.size--;
  return item;
}

/** A binary heap of integers; `before` says which of two comes first and never calls two of them equal. */
export interface Heap {
  items: Int32Array;
  size: number;
  readonly before: (a: number, b: number) => boolean;
}

export const createHeap = (before: (a: number, b: number) => boolean): Heap => ({
  items: new Int32Array(256),
  size: 0,
  before,
});

export function pushHeap(heap: Heap, item: number): void {
  if (heap.size === heap.items.length) {
    heap.items = grown(heap.items, heap.size * 2);
  }
  const { items, before } = heap;
  let at = heap.size++;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (!before(item, items[parent]!)) {
      break;
    }
    items[at] = items[parent]!;
    at = parent;
  }
  items[at] = item;
}

export function popHeap(heap: Heap): number {
  const { items, before } = heap;
  const top = items[0]!;
  const last = items[--heap.size]!;
  let at = 0;
  for (;;) {
    let child = at * 2 + 1;
    if (child >= heap.size) {
      break;
    }
    if (child + 1 < heap.size && before(items[child + 1]!, items[child]!)) {
      child++;
    }
    if (!before(items[child]!, last)) {
      break;
    }
    items[at] = items[child]!;
    at = child;
  }
  items[at] = last;
  return top;
}
