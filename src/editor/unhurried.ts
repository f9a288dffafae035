/** Long work on the thread that answers keys. */

/** Milliseconds, a third of a frame: the step in which it is over still goes on, and a key shall not wait longer than for a whole one. */
const SLICE = 5;

const later = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

/** Runs steps to their end, and lets the host do other things between them. */
export async function unhurried<T>(steps: Iterator<unknown, T>, pause: () => Promise<void> = later): Promise<T> {
  let since = performance.now();
  for (;;) {
    const { done, value } = steps.next();
    if (done) {
      return value;
    }
    if (performance.now() - since > SLICE) {
      await pause();
      since = performance.now();
    }
  }
}
