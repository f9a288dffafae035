/** What a hover says, as Markdown: the answer first, then the formula with its numbers, then where they came from. */
import type { Figure } from '../core/figure';
import { withCommas } from '../core/units';
import type { LaunchOption, TextRange } from '../launch/launch';
import type { PlacedFinding, Plan } from '../planner';
import { alternatives, type TryOptions } from '../planner/alternatives';
import { withInterval } from '../report/amounts';
import { headline } from '../report/headline';
import { wordsOf } from '../report/numbers';
import { shortOrigin } from '../report/rows';
import { alternativesText } from './before-after';
import { type Answer, optionAnswer } from './hover-options';
import { unitsOf } from './lines';
import { bold, code, escaped, table } from './markdown';
import { aboutOption } from './option-about';

export type HoverTarget =
  | { readonly kind: 'launch'; readonly range: TextRange }
  | { readonly kind: 'model'; readonly range: TextRange }
  | { readonly kind: 'option'; readonly range: TextRange; readonly option: LaunchOption };

const within = (range: TextRange, offset: number): boolean => offset >= range.start && offset <= range.end;

/** What stands at an offset, the narrowest first. */
export function hoverTarget(plan: Plan, offset: number, text: string): HoverTarget | undefined {
  const { launch } = plan;
  if (launch.model && within(launch.model.range, offset)) {
    return { kind: 'model', range: launch.model.range };
  }
  for (const option of launch.options) {
    const range = withVariable(option, text);
    if (within(range, offset)) {
      return option.spec?.role === 'model' ? { kind: 'model', range } : { kind: 'option', range, option };
    }
  }
  const hints = [launch.head, launch.hardware.gpu?.range, launch.hardware.count?.range];
  const range = [...hints, ...launch.directives.map((d) => d.range)].find((r) => r && within(r, offset));
  return range && { kind: 'launch', range };
}

/** A variable's value, of which readers say the place, with the variable before it: on its line, or as `name:` above `value:`. */
function withVariable({ range, nameRange, from, spec }: LaunchOption, text: string): TextRange {
  if (from !== undefined || nameRange.start !== range.start || nameRange.end !== range.end) {
    return range;
  }
  const before = text.slice(Math.max(0, range.start - VARIABLE_REACH), range.start);
  const variable = /([A-Za-z_]\w*)["']?(?:[ \t]*[:=][ \t]*|[ \t]*\r?\n[ \t]*value:[ \t]*)["']?$/.exec(before);
  const isOwn = variable && (variable[1] === spec?.env || variable[1] === spec?.name);
  return isOwn ? { start: range.start - variable[0].length, end: range.end } : range;
}

const VARIABLE_REACH = 200;

/** With `tryOptions`, what other values of the option would come to. */
export function hoverText(plan: Plan, target: HoverTarget, tryOptions?: TryOptions): string {
  const answer = answerFor(plan, target);
  return [
    answer.text,
    ...findingsAt(plan, target)
      .filter(isNews)
      .map((f) => `${icons[f.severity]} ${escaped(f.message)}`),
    ...(target.kind === 'option' && tryOptions ? [otherValues(plan, target.option, tryOptions)] : []),
    ...answer.figures.slice(0, 2).map(formula),
    ...origins(answer.figures),
    ...(target.kind === 'option' ? [smallPrint(plan, target.option)] : []),
  ]
    .filter(Boolean)
    .join('\n\n');
}

function answerFor(plan: Plan, target: HoverTarget): Answer {
  switch (target.kind) {
    case 'launch':
      return launchAnswer(plan);
    case 'model':
      return modelAnswer(plan);
    case 'option':
      return optionAnswer(plan, target.option);
  }
}

function launchAnswer(plan: Plan): Answer {
  const { text, detail } = headline(plan);
  const layout = plan.kv?.layout;
  const pool = plan.kv?.pool;
  const rows: string[][] = [];
  if (layout) {
    const { bytesPerToken, bytesPerTokenTotal } = layout;
    rows.push(['KV per token', `${wordsOf(bytesPerToken)} per GPU, ${wordsOf(bytesPerTokenTotal)} whole model`]);
  }
  if (pool && layout) {
    rows.push([
      'Pool',
      `${withInterval(pool.blocks)} ${unitsOf({ layout, pool })}${layout.blockSize === 1 ? '' : ` of ${withCommas(layout.blockSize)} tokens`}; ${withInterval(pool.bytes)} per GPU`,
    ]);
  }
  if (plan.capacity?.longestContext) {
    rows.push(['Longest context', `${withInterval(plan.capacity.longestContext)} tokens`]);
  }
  const hardware = plan.hardware
    ? `${plan.hardware.count === undefined ? '' : `${plan.hardware.count} × `}${plan.hardware.name}`
    : 'GPU not known';
  rows.push(['Runs on', `${hardware}, ${plan.engine.title} ${plan.engine.version.text}`]);
  return {
    text: [bold(text), escaped(detail), table(['', ''], rows, [])].filter(Boolean).join('\n\n'),
    figures: layout ? [layout.bytesPerToken] : [],
  };
}

function modelAnswer(plan: Plan): Answer {
  const model = plan.model;
  const written = plan.launch.model;
  if (!model) {
    const why = written?.unresolved ?? 'no facts of this model are known: name a known one in a kv-planner comment';
    return { text: `${bold(written?.text ?? 'No model')}: ${escaped(why)}.`, figures: [] };
  }
  const layout = plan.kv?.layout;
  const heading = layout
    ? `${bold(`${wordsOf(layout.bytesPerToken)} per token and GPU`)}, ${escaped(wordsOf(layout.bytesPerTokenTotal))} over the whole model`
    : bold(model.id);
  const rows = kindsOf(plan).map(([kind, count]) => `${count} ${kind}`);
  const facts = [`KV layers: ${rows.join(', ')}`, `architecture ${model.architecture}`];
  if (model.resolvedFrom) {
    facts.unshift(`planned as ${model.id}`);
  }
  const figures = layout ? [layout.bytesPerToken, layout.bytesPerTokenTotal] : [];
  return {
    text: `${heading}\n\n${escaped(facts.join(' · '))}\n\n${escaped(`Facts from: ${firstOf(model.source.text)}`)}`,
    figures,
  };
}

/** The report names every source; a hover has room for two. */
function firstOf(sources: string): string {
  const all = sources.split('; ');
  return all.length > 2 ? `${all.slice(0, 2).join('; ')}; and ${all.length - 2} more` : sources;
}

function kindsOf(plan: Plan): [string, number][] {
  const counts = new Map<string, number>();
  for (const layer of plan.model?.layers ?? []) {
    counts.set(layer.kind, (counts.get(layer.kind) ?? 0) + 1);
  }
  return [...counts];
}

/** Findings at the target; on the launch all that stand in no other place of it. */
export function findingsAt(plan: Plan, target: HoverTarget): readonly PlacedFinding[] {
  const told = target.kind === 'launch' ? headline(plan).detail : undefined;
  const isHere = (f: PlacedFinding): boolean => {
    switch (target.kind) {
      case 'launch':
        return f.severity !== 'hint' && f.message !== told;
      case 'model':
        return f.range.start >= target.range.start && f.range.end <= target.range.end;
      case 'option':
        return f.option === target.option.name;
    }
  };
  return plan.findings.filter(isHere).slice(0, 4);
}

/** Not what the answer of an option begins with. */
const isNews = ({ code }: PlacedFinding): boolean => !ANSWERED.has(code);

const ANSWERED = new Set(['bad-value', 'unknown-option', 'option-too-new', 'option-removed']);

const otherValues = (plan: Plan, option: LaunchOption, tryOptions: TryOptions): string =>
  alternativesText(option.name, alternatives(plan, option, tryOptions)) ?? '';

const icons = { error: '$(error)', warning: '$(warning)', information: '$(info)', hint: '$(lightbulb)' } as const;

/** The formula in symbols, then with its numbers. */
function formula(figure: Figure): string {
  const { symbols, numbers } = figure.explain();
  const lines = [symbols, numbers].filter(Boolean).map(code);
  return lines.join('  \n');
}

function origins(figures: readonly Figure[]): string[] {
  const lines = new Set<string>();
  for (const { origins: from, source } of figures.slice(0, 2).map((f) => f.explain())) {
    for (const origin of from) {
      const line = origin.line === undefined || origin.text.includes('line') ? '' : `, line ${origin.line}`;
      lines.add(`${shortOrigin(origin)}${line}`);
    }
    if (source) {
      lines.add(`formula: ${source}`);
    }
  }
  return lines.size > 0 ? [`*From:* ${escaped([...lines].join(' · '))}`] : [];
}

const smallPrint = (plan: Plan, { spec }: LaunchOption): string => (spec ? `---\n\n${aboutOption(plan, spec)}` : '');
