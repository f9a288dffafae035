/** Simulations for a terminal: whether the traffic fits and how many ran at once, then where the room and the time went. */
import type { MissReason, ResidencyRow, RunAnswer, Spread } from '../core/pool';
import { formatBytes, withCommas } from '../core/units';
import { linesOf, type Position } from '../launch/lines';
import type { Plan } from '../planner';
import type { Simulated, SimulatedRun } from '../simulate';
import { percent } from './amounts';
import { clean } from './document';
import { fits, type SimulatedFile, type TrafficSaid } from './simulate-json';
import { type TextStyle, wrap } from './text';

const LABEL = 12;

export function simulateText(files: readonly SimulatedFile[], said: TrafficSaid, style: TextStyle): string {
  const parts = files.flatMap((f) => {
    const places = linesOf(f.text).position;
    return f.simulated.map((simulated) =>
      launchLines(simulated, said, places(simulated.plan.launch.head.start), style),
    );
  });
  return parts.length === 0 ? '' : `${parts.map((lines) => lines.join('\n')).join('\n\n\n')}\n`;
}

type Row = (label: string, value: string) => string[];

function launchLines({ plan, run, reason }: Simulated, said: TrafficSaid, at: Position, style: TextStyle): string[] {
  const row: Row = (label, value) => {
    const [first = '', ...rest] = wrap(clean(value), style.width - LABEL);
    return [paint(label.padEnd(LABEL), 'bold', style) + first, ...rest.map((line) => ' '.repeat(LABEL) + line)];
  };
  const subject = [
    clean(
      `${plan.launch.title}: ${plan.model?.id ?? 'model not known'} · ${plan.engine.title} ${plan.engine.version.text}`,
    ),
    paint(clean(`${plan.launch.file}:${at.line}:${at.column}`), 'dim', style),
  ];
  if (!run) {
    return [...row('Fits', 'not known'), ...row('At once', `not simulated: ${reason ?? ''}`), '', ...subject];
  }
  return [
    ...row('Fits', fitsOrRefused(plan, run)),
    ...row('At once', atOnce(run.paged)),
    '',
    ...subject,
    '',
    ...row('Traffic', trafficWords(run, said)),
    ...row('Pool', poolWords(run, plan.kv?.pool?.bytes.value)),
    '',
    ...section(run.slots ? 'Slots' : 'Paged', pagedRows(run, row), style),
    ...section('Contiguous slabs on the same bytes', contiguousRows(run, row), style),
    ...section('Estimated times', timeRows(run, row), style),
    ...section('Headroom', headroomRows(run, plan.kv?.layout.bytesPerBlock.value, row), style),
    ...section('Conversations between turns, by seconds of thinking', residencyRows(run), style),
    ...section('Block sizes, same traffic and bytes', sizeRows(run), style),
    ...section(
      'Notes',
      run.notes.flatMap((note) =>
        wrap(clean(note), style.width - 4).map((line, i) => `${i === 0 ? '  ' : '    '}${line}`),
      ),
      style,
    ),
  ].slice(0, -1);
}

const section = (title: string, lines: readonly string[], style: TextStyle): string[] =>
  lines.length === 0 ? [] : [paint(title, 'bold', style), ...lines, ''];

const n = (value: number): string => withCommas(Math.round(value));
const counted = (value: number, word: string): string => `${n(value)} ${word}${value === 1 ? '' : 's'}`;
/** An average: one decimal says enough. */
const average = (value: number): string => withCommas(Number(value.toFixed(1)));

/** A server that does not start serves nobody; what it would do is still worth knowing. */
function fitsOrRefused(plan: Plan, run: SimulatedRun): string {
  return plan.starts === false
    ? `no: ${plan.engine.title} will not start as written. If it did: ${fitsWords(run)}`
    : fitsWords(run);
}

function fitsWords(run: SimulatedRun): string {
  const { requests, preemptions } = run.paged;
  const refused =
    requests.rejected > 0
      ? `${counted(requests.rejected, 'request')} refused${run.refusal ? ` (${run.refusal})` : ''}`
      : '';
  if (fits(run)) {
    const cut = run.truncated ? `, but ${counted(run.truncated, 'generation')} cut short by a full slot` : '';
    return `yes: all ${counted(requests.all, 'request')} served without preempting${cut}`;
  }
  const preempted =
    preemptions.count > 0
      ? `${counted(preemptions.count, 'preemption')} of ${counted(preemptions.requests, 'request')}, ${counted(preemptions.recomputedTokens, 'token')} computed again`
      : '';
  return `no: ${[refused, preempted].filter((words) => words !== '').join('; ') || 'not every request was served'}`;
}

const atOnce = ({ inFlight, waiting }: RunAnswer): string =>
  `${counted(inFlight.peak, 'request')} at most, ${average(inFlight.mean)} on average; ${n(waiting.peak)} waiting at most`;

function trafficWords(run: SimulatedRun, { trace, rate, chat, sharedTokens }: TrafficSaid): string {
  const { requests, promptTokens, outputTokens, seconds: last } = run.traffic;
  const some = `${counted(requests, 'request')}${run.replicas > 1 ? ' to this replica' : ''}`;
  if (trace) {
    return `${some} of ${trace.file} (${trace.read.format ?? 'no known format'}), on average ${n(promptTokens)} + ${n(outputTokens)} tokens, ${last > 0 ? `over ${seconds(last)}` : 'all at once'}`;
  }
  const arrive = rate === undefined ? 'all at once' : `${average(rate / run.replicas)} a second (Poisson)`;
  const begin =
    sharedTokens === undefined ? 'no two begin alike' : `all begin with the same ${counted(sharedTokens, 'token')}`;
  return chat
    ? `${some} in conversations of ${counted(chat.turns, 'turn')} with ${seconds(chat.thinkSeconds)} between them, on average ${n(promptTokens)} + ${n(outputTokens)} tokens, begun ${arrive}; ${begin}`
    : `${some} of ${n(promptTokens)} + ${n(outputTokens)} tokens each, ${arrive}; ${begin}`;
}

function poolWords({ blocks, blockSize, slots, paged }: SimulatedRun, bytes: number | undefined): string {
  const size = bytes === undefined ? '' : `, ${formatBytes(Math.round(bytes))} per GPU`;
  return slots || blockSize === 1
    ? `room for ${n(paged.room.totalTokens)} tokens${size}`
    : `${counted(blocks, 'block')} of ${counted(blockSize, 'token')}${size}`;
}

function pagedRows(run: SimulatedRun, row: Row): string[] {
  const { room, prefix, preemptions } = run.paged;
  const whole = run.slots ? room.totalTokens : run.blocks;
  const unit = run.slots || run.blockSize === 1 ? 'token' : 'block';
  const part = (share: number) =>
    `${percent(Math.max(0, share))} (${counted(Math.round(Math.max(0, share) * whole), unit)})`;
  return [
    ...row('  Used', `${part(room.owned)} on average, ${part(room.peakOwned)} at most`),
    ...row('  Cached', `${part(room.cached)} that nobody uses but a prompt may begin with`),
    ...row('  Free', part(room.free)),
    ...row('  Waste', `${percent(Math.max(0, room.owned - room.held))} of the pool is used and not filled`),
    ...row('  Prefixes', hitWords(prefix)),
    ...row('  Preempted', preemptedWords(preemptions)),
  ];
}

const REASONS: Readonly<Record<MissReason, string>> = {
  complete: 'all that could be was found',
  diverges: 'the text goes its own way',
  'first-block-differs': 'nothing began like it',
  'shorter-than-a-block': 'alike for less than a block',
  evicted: 'evicted before',
  'adapter-or-salt': 'another adapter or salt',
};

function hitWords({ promptTokens, hitTokens, rate, reasons }: RunAnswer['prefix']): string {
  const hit = `${percent(rate)} of ${n(promptTokens)} prompt tokens found in the cache (${n(hitTokens)})`;
  const why = Object.entries(reasons ?? {})
    .filter(([, { requests }]) => requests > 0)
    .sort(([, a], [, b]) => b.requests - a.requests)
    .map(([reason, { requests }]) => `${REASONS[reason as MissReason]}: ${counted(requests, 'request')}`);
  return why.length === 0 ? hit : `${hit}. Why no more: ${why.join('; ')}`;
}

function preemptedWords(p: RunAnswer['preemptions']): string {
  if (p.count === 0) {
    return 'never';
  }
  const swapped = p.swappedOutBlocks > 0 ? `, ${counted(p.swappedOutBlocks, 'block')} swapped out` : '';
  return `${counted(p.count, 'time')}, ${counted(p.requests, 'request')}, ${counted(p.recomputedTokens, 'token')} computed again${swapped}`;
}

function contiguousRows({ contiguous, paged }: SimulatedRun, row: Row): string[] {
  if (!contiguous) {
    return [];
  }
  const { slab, slabs, requests, inFlight, waste, room } = contiguous;
  if (slabs === 0) {
    return row('  At once', `none: a slab for the longest request, ${counted(slab, 'token')}, is larger than the pool`);
  }
  if (requests.finished === 0) {
    return row('  At once', 'none: no request fits a slab');
  }
  const ratio = inFlight.mean > 0 ? paged.inFlight.mean / inFlight.mean : 1;
  const more = ratio > 1.05 ? ` (above: ${average(ratio)} times as many)` : '';
  const running = `${counted(inFlight.peak, 'request')} at most, ${average(inFlight.mean)} on average${more}`;
  const wasted = `${percent(waste.internal)} behind the ends of requests, ${percent(waste.reservation)} reserved for tokens to come, ${percent(waste.external)} free but too small`;
  return [
    ...row('  At once', `${running}; ${counted(slabs, 'slab')} of ${counted(slab, 'token')}, the longest request`),
    ...row('  Waste', `${wasted}; ${percent(room.held)} filled`),
  ];
}

const seconds = (value: number): string =>
  value >= 10
    ? `${withCommas(Number(value.toFixed(0)))} s`
    : value >= 1
      ? `${value.toFixed(2)} s`
      : `${Number((value * 1000).toFixed(1))} ms`;

const spread = ({ median, p90, p99 }: Spread): string =>
  `median ${seconds(median)}, 90 % ${seconds(p90)}, 99 % ${seconds(p99)}`;

function timeRows({ paged, contiguous, timed }: SimulatedRun, row: Row): string[] {
  const { times } = paged;
  if (!timed || times.timeToFirstToken.count === 0) {
    return [];
  }
  const beside =
    contiguous && contiguous.requests.finished > 0
      ? ` (contiguous: estimated ${seconds(contiguous.times.seconds)})`
      : '';
  return [
    ...row('  Queueing', `estimated ${spread(times.queueing)}`),
    ...row('  TTFT', `estimated ${spread(times.timeToFirstToken)}`),
    ...(times.timePerOutputToken.count > 0 ? row('  TPOT', `estimated ${spread(times.timePerOutputToken)}`) : []),
    ...row(
      '  Whole run',
      `estimated ${seconds(times.seconds)}${beside}, ${n(times.outputTokensPerSecond)} output tokens a second`,
    ),
  ];
}

function headroomRows({ headroom, blocks }: SimulatedRun, perBlock: number | undefined, row: Row): string[] {
  if (!headroom) {
    return [];
  }
  const size = perBlock === undefined ? '' : `, ${formatBytes(Math.round(headroom.blocks * perBlock))} per GPU`;
  // The pool has a null block beside those that requests get.
  const spare = blocks + 1 - headroom.blocks;
  const words =
    spare >= 0 ? `${counted(spare, 'block')} fewer than this pool` : `${counted(-spare, 'block')} more than this pool`;
  return row(
    '  From',
    `${counted(headroom.blocks, 'block')} on${size}, no request waits for memory or is preempted: ${words}`,
  );
}

/** Advice of the study, in words. */
const ADVICE: Readonly<Record<ResidencyRow['advice'], string>> = {
  'prefix cache': 'rely on the prefix cache',
  'keep resident': 'keep it resident',
  recompute: 'compute it again',
};

function residencyRows({ residency = [] }: SimulatedRun): string[] {
  if (residency.length === 0) {
    return [];
  }
  const cells = residency.map((r) => [
    Number.isFinite(r.to) ? `${r.from} to ${r.to}` : `${r.from} and more`,
    n(r.turns),
    percent(r.survival),
    n(r.keepBlockSeconds),
    r.recomputeSeconds === undefined ? '' : seconds(r.recomputeSeconds),
    ADVICE[r.advice],
  ]);
  return [['seconds', 'turns', 'still cached', 'block-seconds', 'est. compute', 'cheapest'], ...cells].map(
    (line) => `  ${line.map((cell, i) => cell.padStart(i === 5 ? 25 : 14)).join('')}`,
  );
}

function sizeRows({ blockSizes = [] }: SimulatedRun): string[] {
  if (blockSizes.length === 0) {
    return [];
  }
  const measured = blockSizes.some(({ kernelCost }) => kernelCost !== undefined);
  const cells = blockSizes.map((r) => [
    n(r.blockSize),
    percent(r.tailWaste),
    average(r.tableEntries),
    percent(r.hitRate),
    n(r.preemptions),
    ...(measured ? [r.kernelCost === undefined ? '' : `${r.kernelCost.toFixed(2)} ×`] : []),
  ]);
  const head = ['tokens', 'unfilled', 'table entries', 'hits', 'preemptions', ...(measured ? ['kernel time'] : [])];
  return [head, ...cells].map((line) => `  ${line.map((cell) => cell.padStart(15)).join('')}`);
}

const CODES = { bold: 1, dim: 2 } as const;

const paint = (text: string, as: keyof typeof CODES, { colour }: TextStyle): string =>
  colour ? `\u001b[${CODES[as]}m${text}\u001b[0m` : text;
