/** Work in steps: who shares its thread with others lets them have it in between. */
export type Steps<T> = Generator<undefined, T, void>;

/** All of it at once. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) {
      return value;
    }
  }
}
