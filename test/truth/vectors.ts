/** Replays vectors made by the engine's own code through the planner and compares field by field, exactly. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Plan, type PlanContext, planText } from '../../src/planner';
import { launchOf, type Vector, type VectorLaunch } from './launches';

const TRUTH = process.env.KV_PLANNER_TRUTH ?? 'test/truth/data';

export const readTruth = <T>(file: string): T => JSON.parse(readFileSync(join(TRUTH, file), 'utf8')) as T;

export interface Difference {
  readonly field: string;
  readonly expected: unknown;
  readonly actual: unknown;
}

/** The `vllm/` vectors. */
export function vllmVectors(): readonly (readonly [string, Vector])[] {
  const all = readTruth<Record<string, Vector>>('golden-vllm-sglang.json');
  return Object.entries(all).filter(([name]) => name.startsWith('vllm/'));
}

function planOf(launch: VectorLaunch, version: string): Plan {
  const context: PlanContext = {
    flags: { 'kv-memory': String(launch.kvMemory), engine: `vllm@${version}` },
    models: {
      config: (name) =>
        name in launch.configs ? { json: launch.configs[name], path: `${name}/config.json` } : undefined,
    },
  };
  const [plan] = planText({ text: launch.text, name: 'compose.yaml' }, context).plans;
  if (!plan?.kv?.pool) {
    throw new Error(`not planned: ${plan?.findings.map((f) => f.message).join('; ') ?? 'no launch found'}`);
  }
  return plan;
}

export function differences(name: string, vector: Vector): readonly Difference[] {
  const launch = launchOf(name, vector);
  const plan = planOf(launch, launch.version);
  const older = planOf(launch, launch.olderVersion);
  const layout = plan.kv?.layout;
  const pool = plan.kv?.pool;
  const length = plan.capacity?.maxLength ?? 0;
  if (!layout || !pool) {
    throw new Error('no pool');
  }
  const concurrency = pool.logged?.maxConcurrency?.value ?? 0;
  const actual: Record<string, unknown> = {
    groups: layout.groups.map((_, i) =>
      layout.ranks.map((_, r) => layout.ofRank(r).groups[i]?.layers ?? 0).reduce((a, b) => a + b, 0),
    ),
    bytes_per_block: layout.ranks.map((r) => r.bytesPerBlock),
    num_blocks: pool.blocks.value,
    blocks_per_request: layout.groupBlocks(length),
    concurrency,
    // Versions before 0.21 do not print it; the vector states it all the same.
    tokens_new: launch.version === '0.28' ? pool.logged?.tokens.value : Math.trunc(concurrency * length),
    tokens_old: older.kv?.pool?.logged?.tokens.value,
    usable_blocks: pool.usableBlocks,
    fits: plan.starts,
    bytes_per_token_rank: layout.bytesPerToken.value,
    auto: length,
    block_size: layout.blockSize,
    warn: plan.findings
      .filter((f) => f.code === 'padding-layers')
      .map((f) => (f.message.match(/\d+(\.\d+)?/g) ?? []).map(Number)),
  };
  const expected = { ...vector.out, ...(vector.inp.block_size && { block_size: vector.inp.block_size }) };
  return Object.entries(expected)
    .map(([field, expected]) => ({ field, expected, actual: actual[field] }))
    .filter(({ expected, actual: got }) => JSON.stringify(expected) !== JSON.stringify(got));
}
