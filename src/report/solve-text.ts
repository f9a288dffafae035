/** Solutions for a terminal: whether the target is met, and if not, what to change, smallest change first. */
import { withCommas } from '../core/units';
import { linesOf, type Position } from '../launch/lines';
import type { Plan } from '../planner';
import type { Change, Solution, Solved } from '../solve';
import { intervalOf } from './amounts';
import { whyNot } from './answers';
import { clean } from './document';
import { verdict } from './headline';
import type { SolvedFile } from './solve-json';
import { type TextStyle, wrap } from './text';

export type Places = (offset: number) => Position;

export function solveText(files: readonly SolvedFile[], style: TextStyle): string {
  const parts = files.flatMap((f) => {
    const places = linesOf(f.text).position;
    return f.solved.map((solved) => launchLines(solved, places, f.text, style).join('\n'));
  });
  return parts.length === 0 ? '' : `${parts.join('\n\n\n')}\n`;
}

function launchLines(solved: Solved, places: Places, text: string, style: TextStyle): string[] {
  const { plan, solutions, nearest } = solved;
  const at = places(plan.launch.head.start);
  const row = (label: string, value: string): string[] => {
    const [first = '', ...rest] = wrap(value, style.width - 9);
    return [paint(label.padEnd(9), 'bold', style) + first, ...rest.map((line) => ' '.repeat(9) + line)];
  };
  return [
    ...row('Target', targetText(solved)),
    ...row('Now', now(solved)),
    ...(solved.met ? [] : answer(solved).flatMap((line) => row('Answer', line))),
    '',
    clean(
      `${plan.launch.title}: ${plan.model?.id ?? 'model not known'} · ${plan.engine.title} ${plan.engine.version.text}`,
    ),
    paint(clean(`${plan.launch.file}:${at.line}:${at.column}`), 'dim', style),
    ...(plan.given.kvMemory !== undefined && solutions.some((s) => s.kinds.includes('gpus'))
      ? ['', 'The KV cache of one GPU was given and stays as it is; on more GPUs more of each is left for it.']
      : []),
    ...solutions.flatMap((s, i) => ['', ...solutionLines(`${i + 1}. `, s, plan, places, text, style)]),
    ...(nearest
      ? [
          '',
          paint('Nearest that can be reached on the GPUs offered:', 'bold', style),
          ...solutionLines('', nearest, plan, places, text, style),
        ]
      : []),
  ];
}

/** `64 requests at once of 600 + 250 tokens`. */
export function targetText({ plan, target }: Solved): string {
  const { prompt, output } = plan.workload;
  const tokens =
    target.length === prompt + output ? `${withCommas(prompt)} + ${withCommas(output)}` : withCommas(target.length);
  const all = (plan.placement?.replicas ?? 1) > 1 ? ', all replicas together' : '';
  return `${requests(target.concurrency)} at once of ${tokens} tokens${all}`;
}

export const requests = (n: number): string => `${withCommas(n)} request${n === 1 ? '' : 's'}`;

export function now({ plan, served, met, target }: Solved): string {
  if (met) {
    return `yes: ${how(plan, served)}. Nothing need be changed.`;
  }
  if (plan.starts === false || !plan.planned) {
    return `no. ${verdict(plan)}: ${whyNot(plan)}`;
  }
  const { capacity } = plan;
  if (capacity && capacity.maxLength < target.length) {
    return `no: requests of more than ${withCommas(capacity.maxLength)} tokens are refused`;
  }
  return capacity ? `no: ${how(plan, served)}` : 'not known';
}

/** `1,024 requests fit (estimated: 1,000 to 1,050), limited by memory`. */
export function how(plan: Plan, served: number): string {
  const { capacity, placement } = plan;
  const replicas = placement?.replicas ?? 1;
  const { range } = capacity?.fits ?? {};
  const all = range && { low: range.low * replicas, value: range.value * replicas, high: range.high * replicas };
  const interval = served > 0 ? intervalOf(all, 'requests') : '';
  const limit = {
    memory: 'memory',
    'max-sequences': 'the most sequences the engine runs',
    'state-blocks': 'the blocks for states',
    'batch-tokens': 'the tokens of one step',
  } as const;
  return `${interval ? 'about ' : ''}${requests(served)} at once${interval && ` (estimated: ${interval})`}${capacity ? `, limited by ${limit[capacity.limitedBy]}` : ''}`;
}

export function answer({ solutions, reason }: Solved): string[] {
  if (solutions.length === 0) {
    return [`no solution. ${clean(reason ?? '')}`];
  }
  const some = solutions.length === 1 ? 'one way' : `${solutions.length} ways, smallest change first`;
  return [solutions.some((s) => s.moreGpus) ? `${clean(reason ?? '')} With more of them: ${some}.` : `${some}.`];
}

function solutionLines(
  lead: string,
  { changes, edits, plan: after, served, gpus, moreGpus }: Solution,
  plan: Plan,
  places: Places,
  text: string,
  style: TextStyle,
): string[] {
  const indent = ' '.repeat(lead.length);
  const what = changes.map(changeText);
  const offered = plan.hardware?.count ?? plan.launch.hardware.count?.value;
  const hardware = moreGpus ? [`${gpus} GPUs in all${offered === undefined ? '' : `, in place of ${offered}`}`] : [];
  const pool = after.kv?.pool?.blocks.value;
  const numbers = [
    `then ${how(after, served)}`,
    ...(after.capacity ? [`requests of up to ${withCommas(after.capacity.maxLength)} tokens`] : []),
    ...(pool === undefined
      ? []
      : [`${after.kv?.pool?.blocks.range ? 'about ' : ''}${withCommas(pool)} blocks per GPU`]),
  ].join(', ');
  return [
    ...[...what, ...hardware].map((line, i) => paint((i === 0 ? lead : indent) + line, 'bold', style)),
    ...wrap(numbers, style.width - lead.length).map((line) => indent + line),
    ...edits.flatMap((e) =>
      editLines(e, places, text, plan.launch.file).map((line) => paint(indent + line, 'dim', style)),
    ),
  ];
}

export const changeText = ({ option, from, to }: Change): string =>
  clean(from === undefined ? `${option} ${to} (now unset)` : `${option} ${from} → ${to}`);

/** `compose.yaml:14:9: "0.92" → "0.95"`; an addition is shown as it will stand. */
export function editLines(
  { range, text: put }: Solution['edits'][number],
  places: Places,
  text: string,
  file: string,
): string[] {
  const { line, column } = places(range.start);
  const old = text.slice(range.start, range.end);
  const place = clean(`${file}:${line}:${column}`);
  const [first = '', ...rest] = old === '' ? ['', ...put.split('\n')] : put.split('\n');
  const added = rest.filter((l) => l.trim() !== '' && l.trim() !== '\\').map((l) => `    ${clean(l.trim())}`);
  return [
    old === '' ? `${place}: add` : `${place}: ${clean(old)} → ${clean(first)}${added.length > 0 ? ', and add' : ''}`,
    ...added,
  ];
}

const CODES = { bold: 1, dim: 2 } as const;

const paint = (text: string, as: keyof typeof CODES, { colour }: TextStyle): string =>
  colour ? `\u001b[${CODES[as]}m${text}\u001b[0m` : text;
