/**
 * What was made of texts lately: the least recently asked goes first. Bounded by how much text is kept, and by number: what
 * is kept for nothing costs too.
 */

export interface Recent<T> {
  get(key: string): T | undefined;
  set(key: string, value: T): void;
  /** Whether it was there. */
  delete(key: string): boolean;
  clear(): void;
}

/** `weigh` says what counts in place of the key's characters. */
export function recent<T>(
  mostWeight: number,
  most: number,
  weigh: (key: string, value: T) => number = (key) => key.length,
): Recent<T> {
  const kept = new Map<string, T>();
  let weight = 0;
  const remove = (key: string): boolean => {
    const value = kept.get(key);
    if (value === undefined) {
      return false;
    }
    weight -= weigh(key, value);
    return kept.delete(key);
  };
  return {
    get(key) {
      const value = kept.get(key);
      if (value !== undefined) {
        kept.delete(key);
        kept.set(key, value);
      }
      return value;
    },
    set(key, value) {
      remove(key);
      if (weigh(key, value) > mostWeight) {
        return;
      }
      kept.set(key, value);
      weight += weigh(key, value);
      for (const oldest of kept.keys()) {
        if (weight <= mostWeight && kept.size <= most) {
          return;
        }
        remove(oldest);
      }
    },
    delete: remove,
    clear() {
      kept.clear();
      weight = 0;
    },
  };
}
