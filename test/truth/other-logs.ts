/** Cases of `other-logs.json`, by engine, and the plan of the launch behind one. */
import { findModel } from '../../src/core/model/catalogue';
import { GiB } from '../../src/core/units';
import { type Plan, planText } from '../../src/planner';
import { type LogResult, type Printed, printedWithin } from './outcome';
import { readTruth } from './vectors';

export interface OtherLog {
  readonly id: string;
  readonly engine: string;
  readonly engine_version?: string;
  readonly model: string;
  readonly config_facts: Readonly<Record<string, unknown>>;
  readonly tp?: number;
  readonly context_length?: number;
  readonly max_running?: number;
  readonly kv_dtype_k?: string;
  readonly block_or_page_size?: number;
  readonly mem_fraction?: number;
  readonly tokens?: number;
  readonly blocks?: number;
  readonly kv_size_gib?: number;
  readonly bytes_per_token_expected?: number;
  readonly agreement: 'match' | 'mismatch' | 'trap' | 'unknown';
  readonly notes?: string;
}

export const otherLogs = (isEngine: (engine: string) => boolean): readonly OtherLog[] =>
  readTruth<{ readonly cases: readonly OtherLog[] }>('other-logs.json').cases.filter((c) => isEngine(c.engine));

/** `mismatch`, `trap` and `unknown` cases are printed with their notes. */
export function replayed(logs: readonly OtherLog[], replay: (log: OtherLog) => LogResult): readonly LogResult[] {
  return logs.map((log) =>
    log.agreement === 'match'
      ? replay(log)
      : { id: log.id, outcome: 'not counted', detail: `${log.agreement}: ${log.notes ?? 'no notes'}` },
  );
}

export interface Asked {
  readonly image: string;
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly engine: string;
  readonly kvBytes?: number;
}

export function planOf({ image, command, environment = {}, engine, kvBytes }: Asked): Plan {
  const text = [
    'services:',
    '  engine:',
    `    image: ${image}`,
    '    environment:',
    "      UNUSED: '1'",
    ...Object.entries(environment).map(([name, value]) => `      ${name}: '${value}'`),
    ...(command.length > 0 ? ['    command:', ...command.map((word) => `      - '${word}'`)] : []),
    '',
  ].join('\n');
  const flags = { engine, ...(kvBytes === undefined ? {} : { 'kv-memory': String(Math.floor(kvBytes)) }) };
  const [plan] = planText({ text, name: 'compose.yaml' }, { flags }).plans;
  if (!plan?.kv?.pool) {
    throw new Error(plan?.findings.map((f) => f.message).join('; ') ?? 'no launch found');
  }
  return plan;
}

/** The name under which the catalogue knows a log's model. */
export function modelNamed(names: Readonly<Record<string, string>>, log: OtherLog): string {
  const name = names[log.model] ?? log.model;
  if (!findModel(name)) {
    throw new Error(`model not known: ${log.model}`);
  }
  return name;
}

/** Half a unit of the last decimal that the log prints, in bytes. */
const halfUnit = (gib: number): number => (0.5 / 10 ** (String(gib).split('.')[1]?.length ?? 0)) * GiB;

/** Plans at both ends of what the log's KV size may have been before rounding, against what it prints. */
export function within(log: OtherLog, plan: (kvBytes: number) => Plan, printed: readonly Printed[]): LogResult {
  const stated = log.kv_size_gib;
  if (stated === undefined) {
    return { id: log.id, outcome: 'cannot tell', detail: 'KV bytes not stated' };
  }
  try {
    const half = halfUnit(stated);
    return printedWithin(log.id, plan(stated * GiB - half), plan(stated * GiB + half), printed);
  } catch (error) {
    return { id: log.id, outcome: 'cannot tell', detail: (error as Error).message };
  }
}

export const blocksOf = (plan: Plan): number => plan.kv?.pool?.blocks.value ?? 0;
export const tokensOf = (plan: Plan): number => plan.kv?.pool?.logged?.tokens.value ?? 0;
