/** The one animation loop: whole steps of a fixed length, as many as time has passed for. Nothing runs while it rests. */

export interface Loop {
  start(): void;
  stop(): void;
  readonly running: () => boolean;
  setSpeed(stepsPerSecond: number): void;
}

/** A pause longer than this is not made up for: the page was busy, or nobody saw it. */
const LONGEST = 0.25;

/** `tick` is told how many steps are due; what it cannot take (false) is not kept for later. */
export function createLoop(tick: (steps: number) => boolean): Loop {
  let speed = 10;
  let handle = 0;
  let before: number | undefined;
  let due = 0;

  const frame = (now: number): void => {
    handle = requestAnimationFrame(frame);
    due += Math.min(LONGEST, (now - (before ?? now)) / 1000) * speed;
    before = now;
    const steps = Math.floor(due);
    if (steps > 0) {
      due = tick(steps) ? due - steps : Math.min(due, 1);
    }
  };
  return {
    start() {
      if (handle === 0) {
        before = undefined;
        due = 0;
        handle = requestAnimationFrame(frame);
      }
    },
    stop() {
      cancelAnimationFrame(handle);
      handle = 0;
    },
    running: () => handle !== 0,
    setSpeed(stepsPerSecond) {
      speed = stepsPerSecond;
    },
  };
}
