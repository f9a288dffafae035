/** GPUs to offer where a launch names none: the smallest that it starts on, and the one that most people have. */
import { findGpu } from '../core/hardware/find-gpu';
import type { Plan } from '../planner';
import type { TryOptions } from './alternatives';

/** Cards that are rented most, smallest first. */
const COMMON = ['L4', 'L40S', 'A100-80GB-SXM', 'H100-80GB-SXM', 'H200-SXM', 'B200'];
const USUAL = 'H100-80GB-SXM';

export interface GpuOffer {
  /** As a directive names it. */
  readonly name: string;
  readonly plan: Plan;
}

export function gpuOffers(plan: Plan, tryOptions: TryOptions): readonly GpuOffer[] {
  const offers = COMMON.filter((name) => findGpu(name)).map((name) => ({
    name,
    plan: tryOptions(plan, {}, { gpu: name }),
  }));
  const smallest = offers.find((offer) => offer.plan.starts === true);
  const usual = offers.find(({ name }) => name === USUAL);
  return [...new Set([smallest, usual])].filter((offer) => offer !== undefined);
}
