/** Findings of any engine: limits and pool held against each other. Option names come from the engine's table, by role. */
import { longestFitting, requestBlocks } from '../core/capacity/longest';
import type { Checked, Engine, Finding, Fix, Layout, Pool } from '../core/engines/engine';
import { availability, type OptionRole } from '../core/engines/option';
import type { Figure } from '../core/figure';
import { type Estimate, exactly, formatBytes, withCommas } from '../core/units';

export function capacityFindings(checked: Checked, engine: Engine): readonly Finding[] {
  const { pool, capacity, configuration } = checked;
  if (!pool || !capacity || configuration.autoLength) {
    return [];
  }
  const { layout, verdict, workload, promptSaid, asked, whatIf, budget } = checked;
  const optionOf = optionsByRole(engine, configuration.version.text);
  const known: Known = {
    configuration,
    layout,
    budget,
    pool,
    verdict,
    capacity,
    asked,
    workload,
    promptSaid,
    whatIf,
    optionOf,
  };
  return [
    workloadAboveLength,
    lengthAbovePool,
    poolAboveLimits,
    pagingGainsNothing,
    sequencesAboveMemory,
    unevenStages,
  ].flatMap((check) => check(known));
}

interface Known extends Checked {
  readonly pool: Pool;
  readonly capacity: NonNullable<Checked['capacity']>;
  /** Name of the option of a role in this version. */
  readonly optionOf: (role: OptionRole, unit?: string) => string | undefined;
}

const optionsByRole =
  (engine: Engine, version: string): Known['optionOf'] =>
  (role, unit) =>
    engine.options.find(
      (o) => o.role === role && (unit === undefined || o.unit === unit) && availability(o, version) === 'ok',
    )?.name;

const ends = ({ value, range }: Figure): Estimate => range ?? exactly(value);

/** Blocks that requests can get: what a pool holds back, it holds back at either end of an estimate. */
function usable(pool: Pool): Estimate {
  const held = pool.blocks.value - pool.usableBlocks;
  const { low, high } = ends(pool.blocks);
  return { low: Math.max(0, low - held), value: pool.usableBlocks, high: Math.max(0, high - held) };
}

const largestBlock = ({ ranks }: Layout): number => Math.max(...ranks.map((r) => r.bytesPerBlock));

/** Requests that the engine does not take to their end. */
function workloadAboveLength({ capacity, promptSaid, optionOf }: Known): readonly Finding[] {
  const { prompt, output } = capacity.workload;
  const { maxLength } = capacity;
  if (prompt + output <= maxLength) {
    return [];
  }
  const refused = prompt >= maxLength;
  const what = promptSaid ? 'the workload' : 'the usual workload';
  return [
    {
      code: 'workload-above-length',
      severity: refused || promptSaid ? 'warning' : 'information',
      option: optionOf('max-length'),
      message: `A request of ${what} has ${withCommas(prompt)} + ${withCommas(output)} tokens, more than the ${withCommas(maxLength)} that the engine takes: ${refused ? 'it is refused' : 'its answer is cut off there'}. Requests are counted at ${withCommas(maxLength)} tokens.`,
      fixes: [],
    },
  ];
}

/** The engine starts, and a request of the length it accepts can never be admitted. */
function lengthAbovePool({ layout, pool, capacity, verdict, optionOf }: Known): readonly Finding[] {
  const { maxLength } = capacity;
  const needed = requestBlocks(layout, maxLength);
  const blocks = usable(pool);
  const said = verdict?.findings.some((f) => f.code === 'length-above-pool');
  if (verdict?.starts !== true || said || pool.parts || needed <= blocks.high) {
    return [];
  }
  const longest = longestFitting(layout, blocks.low, maxLength);
  const option = optionOf('max-length');
  return [
    {
      code: 'length-above-pool',
      severity: 'warning',
      option,
      message: `The server starts, but a request of the full ${withCommas(maxLength)} tokens needs ${withCommas(needed)} blocks and the pool has ${withCommas(blocks.high)} to give: it is accepted and then waits for ever.`,
      fixes:
        option && longest > 0
          ? [
              {
                title: `Set ${option} to ${withCommas(longest)}, the longest that the pool holds`,
                option,
                value: String(longest),
              },
            ]
          : [],
    },
  ];
}

/** More blocks than all requests the engine runs at once can fill. */
function poolAboveLimits(known: Known): readonly Finding[] {
  const { layout, pool, capacity, optionOf } = known;
  const limit = capacity.engineLimit?.value;
  if (!limit || pool.parts) {
    return [];
  }
  const blocks = usable(pool);
  const most = limit * requestBlocks(layout, capacity.maxLength);
  if (blocks.low <= most) {
    return [];
  }
  const times = blocks.low / most;
  return [
    {
      code: 'pool-above-limits',
      severity: 'information',
      option: optionOf('max-sequences'),
      message: `At most ${several(limit, 'request')} of at most ${withCommas(capacity.maxLength)} tokens run at once and can fill ${withCommas(most)} blocks; the pool has ${withCommas(blocks.low)}${blocks.low === blocks.high ? '' : ' or more'} to give, ${times >= 2 ? `${times.toFixed(1)} times as many` : `${withCommas(blocks.low - most)} more`}. The rest, ${formatBytes((blocks.low - most) * layout.bytesPerBlock.value)} per GPU, can only keep prefixes of finished requests.`,
      fixes: [...smallerPool(known, most), ...moreSequences(known, blocks.low)],
    },
  ];
}

const several = (n: number, what: string): string => `${withCommas(n)} ${what}${n === 1 ? '' : 's'}`;

/** Exactly as many bytes as the limits can use. Not where somebody said the KV bytes: they stand, whatever options say. */
function smallerPool({ layout, pool, capacity, asked, optionOf }: Known, most: number): readonly Fix[] {
  const held = pool.blocks.value - pool.usableBlocks;
  const bytes = (most + held) * largestBlock(layout);
  const inBlocks = optionOf('kv-memory', 'blocks');
  if (pool.memory && inBlocks) {
    return [
      {
        title: `Set ${inBlocks} to ${withCommas(most + held)}: all that can be used`,
        option: inBlocks,
        value: String(most + held),
      },
    ];
  }
  const option = optionOf('kv-memory', 'bytes');
  if (asked.given.kvMemory !== undefined || option === undefined) {
    return [];
  }
  const title = `Set ${option} to ${formatBytes(bytes)} per GPU, all that ${several(capacity.engineLimit?.value ?? 0, 'request')} can use: ${formatBytes(ends(pool.bytes).low - bytes)} stay free`;
  return [{ title, option, value: String(bytes) }];
}

/** As many as let memory decide, and no pool is left over. */
function moreSequences({ layout, capacity, optionOf }: Known, blocks: number): readonly Fix[] {
  const option = optionOf('max-sequences');
  if (option === undefined || capacity.limitedBy === 'batch-tokens') {
    return [];
  }
  const each = requestBlocks(layout, capacity.maxLength);
  const sequences = Math.ceil(blocks / each);
  const title = `Set ${option} to ${withCommas(sequences)}: memory then decides, for ${several(Math.floor(blocks / each), 'request')} of the full length`;
  return [{ title, option, value: String(sequences) }];
}

/** Blocks share memory between requests; one request alone has nobody to share with. */
function pagingGainsNothing(known: Known): readonly Finding[] {
  const { configuration, layout, capacity, pool, optionOf } = known;
  if (configuration.maxSequences !== 1 || layout.allocator === 'cells' || layout.allocator === 'slots') {
    return [];
  }
  return [
    {
      code: 'paging-gains-nothing',
      severity: 'information',
      option: optionOf('max-sequences'),
      message: `One request runs at a time, of at most ${withCommas(capacity.maxLength)} tokens: paging gains nothing over one contiguous slab. Blocks serve here only to reuse the beginning of an earlier prompt.`,
      fixes: moreSequences(known, usable(pool).low).filter((f) => f.value !== '1'),
    },
  ];
}

/** Written, and beyond what memory holds of a workload that somebody stated. */
function sequencesAboveMemory({ asked, capacity, configuration, promptSaid, optionOf }: Known): readonly Finding[] {
  const option = optionOf('max-sequences');
  const { low, high } = ends(capacity.paged.requests);
  const written = asked.settings.some((s) => s.name === option);
  const sequences = configuration.maxSequences;
  if (!option || !written || !promptSaid || sequences === undefined || sequences <= high || low < 1) {
    return [];
  }
  const { prompt, output } = capacity.workload;
  return [
    {
      code: 'sequences-above-memory',
      severity: 'hint',
      option,
      message: `${withCommas(sequences)} requests of ${withCommas(prompt)} + ${withCommas(output)} tokens do not fit: memory holds ${low === high ? '' : 'at most '}${withCommas(high)}. When the pool is full, running requests are preempted and computed again.`,
      fixes: [{ title: `Set ${option} to ${withCommas(low)}: none of them is preempted`, option, value: String(low) }],
    },
  ];
}

/** Stages of a pipeline whose pools differ: the smallest decides, and memory of the others is left over. */
function unevenStages({ layout, pool, optionOf }: Known): readonly Finding[] {
  const blocks = pool.ranks.map((r) => r.blocks);
  const most = Math.max(...blocks);
  const least = Math.min(...blocks);
  if (most - least <= most * 0.01) {
    return [];
  }
  const rank = layout.ranks[pool.decidingRank];
  const layers = [...new Set(layout.ranks.map((r) => r.layers))];
  const unequal = layers.length > 1 ? ` Stages have ${layout.ranks.map((r) => r.layers).join(', ')} layers.` : '';
  return [
    {
      code: 'uneven-stages',
      severity: 'hint',
      option: optionOf('pipeline'),
      message: `Stage ${(rank?.stage ?? 0) + 1} of ${blocks.length} decides: its GPUs have ${withCommas(least)} blocks, others up to ${withCommas(most)}, of which the rest stays unused.${unequal}`,
      fixes: [],
    },
  ];
}
