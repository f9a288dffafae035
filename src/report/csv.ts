/** One row per launch, RFC 4180. The columns are the JSON contract's names, so that a sheet and a script speak alike. */
import { clean } from './document';
import { planJson } from './json';
import type { PlannedFile } from './planned';

const COLUMNS = [
  'launch.file',
  'launch.range.start.line',
  'launch.engine',
  'launch.engineVersion',
  'model.id',
  'hardware.gpu',
  'hardware.count',
  'placement.tensor',
  'placement.pipeline',
  'placement.replicas',
  'kv.dtype.value',
  'kv.blockSize',
  'kv.bytesPerTokenPerGpu',
  'kv.bytesPerTokenTotal',
  'kv.fixedBytesPerRequestPerGpu',
  'kv.bytesPerBlockPerGpu',
  'budget.kv.low',
  'budget.kv.high',
  'kv.bytesPerGpu',
  'kv.blocks',
  'kv.tokensAsLogged',
  'kv.maxConcurrencyAsLogged',
  'capacity.maxLength',
  'capacity.longestContext',
  'capacity.workload.prompt',
  'capacity.workload.output',
  'capacity.contiguous.requests',
  'capacity.paged.requests',
  'capacity.steadyState.requests',
  'capacity.engineLimit',
  'capacity.fits',
  'capacity.limitedBy',
  'starts',
] as const;

export function reportCsv(files: readonly PlannedFile[]): string {
  const { plans } = planJson(files) as { plans: readonly unknown[] };
  const rows = plans.map((plan) => COLUMNS.map((column) => cell(at(plan, column))));
  return [COLUMNS, ...rows].map((row) => `${row.join(',')}\r\n`).join('');
}

function at(value: unknown, path: string): unknown {
  let here = value;
  for (const key of path.split('.')) {
    here = typeof here === 'object' && here !== null ? (here as Record<string, unknown>)[key] : undefined;
  }
  return here;
}

/** Unknown is empty. Text that a sheet would run as a formula is made text by a quote mark in front. */
function cell(value: unknown): string {
  if (typeof value !== 'string') {
    return value === undefined ? '' : String(value);
  }
  const plain = clean(value);
  const text = /^[=+\-@\t\r]/.test(plain) ? `'${plain}` : plain;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
