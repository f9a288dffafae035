/** What a plan has to tell beyond its numbers: findings of every engine, then the engine's own. */
import type { Finding } from '../core/engines/engine';
import type { Ask } from './asks';
import type { Road, RoadInput } from './road';

export function checked(_road: Road, _input: RoadInput, _ask: Ask): readonly Finding[] {
  return [];
}
