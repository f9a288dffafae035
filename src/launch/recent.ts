/** What was made of texts lately: the least recently asked goes first. Bounded by how much text is kept, and by number: what is kept for nothing costs too. */

export interface Recent<T> {
  get(key: string): T | undefined;
  set(key: string, value: T): void;
}

export function recent<T>(mostCharacters: number, most: number): Recent<T> {
  const kept = new Map<string, T>();
  let characters = 0;
  const remove = (key: string): void => {
    if (kept.delete(key)) {
      characters -= key.length;
    }
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
      if (key.length > mostCharacters) {
        return;
      }
      kept.set(key, value);
      characters += key.length;
      for (const oldest of kept.keys()) {
        if (characters <= mostCharacters && kept.size <= most) {
          return;
        }
        remove(oldest);
      }
    },
  };
}
