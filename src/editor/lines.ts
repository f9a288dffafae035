/** One plan in one line, for the lens and the status bar. */

import { formatBytes } from '../core/units';
import type { KvPlan, Plan } from '../planner';
import { shortAmount } from '../report/amounts';
import { whyNot } from '../report/answers';
import { verdict } from '../report/headline';

/** `starts · 1,024 fit · 40 KiB/token per GPU · 82,969 blocks · room for 162 contiguous → 1,536 paged`: the answer first, since a narrow editor cuts the end. */
export function lensLine(plan: Plan): string {
  if (!plan.planned) {
    return `not planned: ${whyNot(plan)}`;
  }
  const parts = [lowerFirst(verdict(plan))];
  if (plan.capacity && plan.starts !== false) {
    parts.push(`${shortAmount(plan.capacity.fits)} fit`);
  }
  if (plan.kv) {
    parts.push(`${formatBytes(plan.kv.layout.bytesPerToken.value)}/token per GPU`);
  }
  if (plan.kv?.pool) {
    parts.push(`${shortAmount(plan.kv.pool.blocks)} ${unitsOf(plan.kv)}`);
  }
  if (plan.capacity) {
    const { contiguous, paged } = plan.capacity;
    parts.push(`room for ${shortAmount(contiguous.requests)} contiguous → ${shortAmount(paged.requests)} paged`);
  }
  return parts.join(' · ');
}

/** What this engine counts: blocks, tokens, cells or slots. */
export const unitsOf = ({ layout, pool }: KvPlan): string =>
  pool?.blocks.value === 1 ? layout.allocator.slice(0, -1) : layout.allocator;

/** What the status bar has room for. */
export function statusLine(plan: Plan): string {
  if (!plan.planned) {
    return 'not planned';
  }
  if (plan.starts === false) {
    return 'will not start';
  }
  if (plan.capacity) {
    return `${shortAmount(plan.capacity.fits)} fit${plan.starts === 'unknown' ? ', if it starts' : ''}`;
  }
  return plan.kv ? `${formatBytes(plan.kv.layout.bytesPerToken.value)}/token` : lowerFirst(verdict(plan));
}

/** Leaves `GPU` as it is. */
export const lowerFirst = (text: string): string =>
  /^[A-Z]{2}/.test(text) ? text : text.charAt(0).toLowerCase() + text.slice(1);
