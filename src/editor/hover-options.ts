/** What one option does to this plan, by what the option decides. */
import type { BudgetTerm } from '../core/engines/engine';
import { availability, type OptionRole } from '../core/engines/option';
import type { Figure } from '../core/figure';
import { withCommas } from '../core/units';
import type { LaunchOption } from '../launch/launch';
import type { Plan } from '../planner';
import { intervalOf, shortAmount, withInterval } from '../report/amounts';
import { setAside } from '../report/answers';
import { workloadText } from '../report/headline';
import { numberOf, wordsOf } from '../report/numbers';
import { inGiB } from './inlay-text';
import { bold, code, escaped, table } from './markdown';

export interface Answer {
  readonly text: string;
  /** The figures whose formulas follow, the most telling first. */
  readonly figures: readonly Figure[];
}

export function optionAnswer(plan: Plan, option: LaunchOption): Answer {
  if (option.error !== undefined) {
    return {
      text: `**${escaped(plan.engine.title)} will not take ${code(option.raw)}**: ${escaped(option.error)}`,
      figures: [],
    };
  }
  if (option.unresolved !== undefined) {
    return { text: `**Not known from this file**: ${escaped(option.unresolved)}`, figures: [] };
  }
  const absent = notInVersion(plan, option);
  if (absent) {
    return absent;
  }
  const role = option.spec?.role;
  return (role && answers[role]?.(plan)) ?? effectOf(plan, option);
}

/** Since when an engine has an option, or until when it had it. */
function notInVersion({ engine }: Plan, { spec, value, name }: LaunchOption): Answer | undefined {
  const there = spec ? availability(spec, engine.version.text, value) : 'ok';
  if (there === 'ok') {
    return undefined;
  }
  const isName = spec !== undefined && availability(spec, engine.version.text) !== 'ok';
  const what = isName ? `the option ${name}` : `${name} ${String(value)}`;
  const when =
    'since' in there
      ? `it came with ${engine.title} ${there.since}`
      : `it is gone since ${engine.title} ${there.until}`;
  return {
    text: `${bold(`${engine.title} ${engine.version.text} does not have ${what}`)}: ${escaped(when)}.`,
    figures: [],
  };
}

function effectOf(plan: Plan, option: LaunchOption): Answer {
  if (!option.spec) {
    const version = `${plan.engine.title} ${plan.engine.version.text}`;
    return {
      text: `${code(`--${option.name}`)} is not an option of ${escaped(version)} that KV Planner knows.`,
      figures: [],
    };
  }
  return { text: escaped(option.spec.effect ?? 'Changes nothing in the KV cache.'), figures: [] };
}

type Answerer = (plan: Plan) => Answer | undefined;

const answers: { readonly [role in OptionRole]?: Answerer } = {
  'max-length': maxLength,
  'memory-share': memoryShare,
  'kv-memory': poolSize,
  'kv-dtype': storedAs,
  'block-size': blockSize,
  tensor: spread,
  data: replicas,
  pipeline: stages,
  'max-sequences': sequences,
  'batch-tokens': batchTokens,
};

function maxLength(plan: Plan): Answer | undefined {
  const { capacity } = plan;
  const one = plan.kv?.atMaxLength;
  if (!one) {
    return undefined;
  }
  const length = capacity ? ` at ${withCommas(capacity.maxLength)} tokens` : '';
  const lines = [`${bold(`${inGiB(one.reserved.value)} per request`)}${length}, on each GPU`];
  const pool = plan.kv?.pool;
  if (pool?.logged?.maxConcurrency) {
    lines.push(`${bold(withInterval(pool.logged.maxConcurrency))} of that length fit in the pool.`);
  }
  if (capacity && !(plan.starts === false && setAside(plan))) {
    const { contiguous, paged } = capacity;
    lines.push(
      `At ${workloadText(plan)}: ${bold(withInterval(contiguous.requests))} requests fit if each reserves the full length, ` +
        `${bold(withInterval(paged.requests))} paged.`,
    );
  }
  if (capacity?.longestContext) {
    lines.push(`Longest that fits: ${bold(withInterval(capacity.longestContext))} tokens.`);
  }
  return {
    text: lines.join('  \n'),
    figures: [one.reserved, ...(capacity?.longestContext ? [capacity.longestContext] : [])],
  };
}

function memoryShare(plan: Plan): Answer | undefined {
  const { budget } = plan;
  if (!budget) {
    return undefined;
  }
  const term = (name: string, budgetTerm: BudgetTerm): string[] => [
    name,
    numberOf({ ...budgetTerm.figure, range: undefined }),
    intervalOf(budgetTerm.figure.range, 'bytes') || 'exact',
    budgetTerm.why,
  ];
  const rows = [
    term('weights', budget.weights),
    term('activations', budget.activations),
    term('graphs', budget.graphs),
    term('other', budget.other),
    term('left for KV', budget.kv),
  ];
  const heading = `${bold(withInterval(budget.kv.figure))} of one GPU is left for KV: the engine may use ${escaped(shortAmount(budget.limit))} of ${escaped(shortAmount(budget.total))}.`;
  const more = plan.capacity?.paged.requestsPerGiB;
  const buys = more ? ` One GiB more on every GPU holds ${escaped(withInterval(more))} more requests.` : '';
  return {
    text: `${heading}${buys}\n\n${table(['One GPU', 'Size', 'Range', 'Why'], rows, [1])}`,
    figures: [budget.kv.figure],
  };
}

function poolSize(plan: Plan): Answer | undefined {
  const pool = plan.kv?.pool;
  return (
    pool && {
      text: `${bold(`${withInterval(pool.blocks)} blocks`)} from ${escaped(withInterval(pool.bytes))} on each GPU${pool.logged ? `, ${escaped(withInterval(pool.logged.tokens))} tokens as the engine logs them` : ''}.`,
      figures: [pool.blocks],
    }
  );
}

function storedAs(plan: Plan): Answer | undefined {
  const layout = plan.kv?.layout;
  if (!layout) {
    return undefined;
  }
  const { key, value } = layout.dtype;
  const kept = `Keys and values are stored as ${value}${key === value ? '' : ` (asked for: ${key})`}`;
  return {
    text: `${bold(`${wordsOf(layout.bytesPerToken)} per token and GPU`)}, ${escaped(wordsOf(layout.bytesPerTokenTotal))} over the whole model. ${escaped(kept)}.`,
    figures: [layout.bytesPerToken],
  };
}

function blockSize(plan: Plan): Answer | undefined {
  const layout = plan.kv?.layout;
  if (!layout) {
    return undefined;
  }
  const lines = [
    `${bold(`${wordsOf(layout.bytesPerBlock)} per block`)} on each GPU, ${layout.blockSize} tokens in each.`,
  ];
  if (plan.capacity) {
    const { blocksPerRequest, tailTokens } = plan.capacity.paged;
    lines.push(
      `A request of ${workloadText(plan)} holds ${escaped(wordsOf(blocksPerRequest))}; ${escaped(wordsOf(tailTokens))} of the last one stay empty.`,
    );
  }
  const groups = layout.groups.map((g) => [g.kind, `${g.layers}`, `${g.blockSize}`, g.dtype]);
  if (groups.length > 1) {
    lines.push(`\n${table(['KV layers', 'Layers', 'Tokens per block', 'Stored as'], groups, [1, 2])}`);
  }
  return { text: lines.join('  \n'), figures: [layout.bytesPerBlock] };
}

function spread(plan: Plan): Answer | undefined {
  const layout = plan.kv?.layout;
  const tensor = plan.placement?.tensor;
  return layout && tensor !== undefined
    ? {
        text: `${bold(`${wordsOf(layout.bytesPerToken)} per token on each GPU`)} with each layer over ${withCommas(tensor)} ${tensor === 1 ? 'GPU' : 'GPUs'}; ${escaped(wordsOf(layout.bytesPerTokenTotal))} over the whole model.`,
        figures: [layout.bytesPerToken],
      }
    : undefined;
}

function replicas(plan: Plan): Answer | undefined {
  const count = plan.placement?.replicas;
  if (count === undefined) {
    return undefined;
  }
  const each = plan.capacity ? `, each fits ${withInterval(plan.capacity.fits)} requests` : '';
  return {
    text: `${bold(count === 1 ? '1 pool' : `${withCommas(count)} independent pools`)}${escaped(each)}.`,
    figures: [],
  };
}

function stages(plan: Plan): Answer | undefined {
  const layout = plan.kv?.layout;
  const pool = plan.kv?.pool;
  if (!layout) {
    return undefined;
  }
  const rows = layout.ranks.map((rank, i) => [
    `${rank.stage + 1}${i === (pool?.decidingRank ?? layout.decidingRank) ? ' (decides)' : ''}`,
    `${rank.layers}`,
    `${withCommas(rank.bytesPerToken)} B`,
    pool?.ranks[i] ? withCommas(pool.ranks[i].blocks) : 'not known',
  ]);
  const heading =
    rows.length === 1
      ? `${bold('1 pipeline stage')}: every GPU holds all KV layers.`
      : `${bold(`${rows.length} pipeline stages`)}: the smallest pool decides how many blocks every stage has.`;
  if (rows.length < 2) {
    return { text: heading, figures: [layout.bytesPerToken] };
  }
  return {
    text: `${heading}\n\n${table(['Stage', 'KV layers', 'Per token and GPU', 'Blocks'], rows, [1, 2, 3])}`,
    figures: [layout.bytesPerToken],
  };
}

function sequences(plan: Plan): Answer | undefined {
  const { capacity } = plan;
  if (!capacity) {
    return undefined;
  }
  const { engineLimit, paged, fits } = capacity;
  const which = capacity.limitedBy === 'max-sequences' ? 'this limit, not memory, decides' : 'memory runs out first';
  return {
    text: `${bold(`${withInterval(fits)} requests run at once`)}: ${escaped(which)}. The engine runs at most ${engineLimit ? escaped(numberOf(engineLimit)) : 'a number not known'}; the pool holds ${escaped(withInterval(paged.requests))} at ${workloadText(plan)}.`,
    figures: [fits],
  };
}

function batchTokens(plan: Plan): Answer | undefined {
  const term = plan.budget?.activations;
  if (!term) {
    return undefined;
  }
  const text =
    term.figure.value === 0
      ? `Nothing is taken from the pool for activations of the largest step: ${escaped(term.why)}.`
      : `${bold(`${withInterval(term.figure)} of one GPU`)} is set aside for activations of the largest step. ${escaped(term.why)}`;
  return { text, figures: [term.figure] };
}
