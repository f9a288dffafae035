/** One plan in one line, for the lens and the status bar. */
import type { Plan } from '../planner';
import { counted, inUnit, shortAmount } from '../report/amounts';
import { verdict } from '../report/headline';

/** `40 KiB/token per GPU · 82,969 blocks · 162 contiguous → 1,536 paged · starts`. */
export function lensLine(plan: Plan): string {
  if (!plan.planned) {
    return firstError(plan) ?? 'not planned';
  }
  const parts: string[] = [];
  if (plan.kv) {
    parts.push(`${inUnit(plan.kv.layout.bytesPerToken.value, 'bytes')}/token per GPU`);
  }
  if (plan.kv?.pool) {
    parts.push(`${shortAmount(plan.kv.pool.blocks)} blocks`);
  }
  if (plan.capacity) {
    const { contiguous, paged } = plan.capacity;
    parts.push(`${shortAmount(contiguous.requests)} contiguous → ${shortAmount(paged.requests)} paged`);
  }
  parts.push(lowerFirst(verdict(plan)));
  return parts.join(' · ');
}

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
  return plan.kv ? `${inUnit(plan.kv.layout.bytesPerToken.value, 'bytes')}/token` : lowerFirst(verdict(plan));
}

/** `3 errors`, `1 warning`; empty when there is nothing to say. */
export function findingCount(plan: Plan): string {
  const errors = plan.findings.filter((f) => f.severity === 'error').length;
  const warnings = plan.findings.filter((f) => f.severity === 'warning').length;
  return [errors && counted(errors, 'error'), warnings && counted(warnings, 'warning')].filter(Boolean).join(', ');
}

/** Leaves `GPU` as it is. */
const lowerFirst = (text: string): string =>
  /^[A-Z]{2}/.test(text) ? text : text.charAt(0).toLowerCase() + text.slice(1);

const firstError = (plan: Plan): string | undefined => plan.findings.find((f) => f.severity === 'error')?.message;
