/** Times of passes, by the best clock there is. */
import { type Dispatch, encode, type Gpu, readBuffer, resolveBuffer } from './device';
import { quantumOf } from './statistics';

export type ClockKind = 'timestamps' | 'cpu' | 'wall';

/** Milliseconds of something that this machine counts; only differences mean anything. */
export interface HostClock {
  readonly kind: 'cpu' | 'wall';
  now(): number | Promise<number>;
}

export const wallClock: HostClock = { kind: 'wall', now: () => performance.now() };

export interface PassClock {
  readonly kind: () => ClockKind;
  /** Nanoseconds that the device's timestamps are multiples of; undefined until it has shown some. */
  quantum(): number | undefined;
  /** Milliseconds of `times` repetitions in one submit. */
  time(dispatches: readonly Dispatch[], times: number): Promise<number>;
}

/** A device's clock that says more than this many times the wall's is not to be trusted. */
const ABSURD = 1.5;
/** Milliseconds by the wall in which a device's clock must have moved; a pass may be shorter than its step. */
const STEP_PASSED = 20;

export function passClock(gpu: Gpu, host: HostClock): PassClock {
  const { device } = gpu;
  // Software that plays a GPU runs on the CPU, whose own clock is the better one.
  const stamps = gpu.timestamps && !gpu.adapter.fallback ? stampsOf(gpu) : undefined;
  let trusted = stamps !== undefined;
  let quantum: bigint | undefined;
  return {
    kind: () => (trusted ? 'timestamps' : host.kind),
    quantum: () => (quantum === undefined ? undefined : Number(quantum)),
    async time(dispatches, times) {
      const encoder = device.createCommandEncoder();
      const pass = encoder.beginComputePass(trusted && stamps ? { timestampWrites: stamps.writes } : {});
      for (let n = 0; n < times; n++) {
        encode(pass, dispatches);
      }
      pass.end();
      if (trusted && stamps) {
        stamps.resolve(encoder);
      }
      const begin = await host.now();
      device.queue.submit([encoder.finish()]);
      await gpu.wait(device.queue.onSubmittedWorkDone(), 'a measured pass');
      const elapsed = (await host.now()) - begin;
      if (!trusted || !stamps) {
        return elapsed;
      }
      const [from = 0n, to = 0n] = await stamps.read();
      quantum = quantumOf([quantum ?? 0n, from, to]);
      const measured = Number(to - from) / 1e6;
      const stands = to < from || (to === from && elapsed > STEP_PASSED);
      if (stands || measured > ABSURD * elapsed + 1) {
        trusted = false;
        return elapsed;
      }
      return measured;
    },
  };
}

function stampsOf(gpu: Gpu) {
  const querySet = gpu.device.createQuerySet({ type: 'timestamp', count: 2 });
  const buffer = resolveBuffer(gpu, 16);
  return {
    writes: { querySet, beginningOfPassWriteIndex: 0, endOfPassWriteIndex: 1 },
    resolve: (encoder: GPUCommandEncoder) => encoder.resolveQuerySet(querySet, 0, 2, buffer, 0),
    read: async () => new BigUint64Array(await readBuffer(gpu, buffer, 16)),
  };
}
