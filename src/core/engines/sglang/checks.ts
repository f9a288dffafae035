/** What a launch of SGLang should know beyond its numbers: how requests are admitted, and what would make it start. */
import { formatBytes, withCommas } from '../../units';
import type { Budget, Checked, Finding, Fix } from '../engine';
import { isLatent } from './backend';
import type { SglangConfiguration } from './configure';
import { refusal } from './refusals';
import { settingsOf } from './settings';

type Case = Checked<SglangConfiguration>;

export const checksOf = (checked: Case): readonly Finding[] =>
  [noMemory, restBelowDefault, cappedByStates, repeatedLatents, admission].flatMap((check) => check(checked));

/** Source: SGLang 0.5.18, srt/mem_cache/kv_cache_configurator.py. */
function noMemory(checked: Case): readonly Finding[] {
  const { verdict, pool, budget, configuration: c } = checked;
  if (verdict?.starts !== false || !pool || pool.blocks.value > 0 || (pool.blocks.range?.high ?? 0) > 0) {
    return [];
  }
  const share = c.share?.share.value;
  const least = budget && leastShare(budget);
  const refuse = (message: string, fixes: readonly Fix[]) => [
    refusal('no-kv-memory', message, 'mem-fraction-static', fixes),
  ];
  const current = share === undefined ? '' : ` Current value: mem_fraction_static=${share}`;
  const advice = `Not enough memory. Please try to increase --mem-fraction-static.${current}`;
  if (share === undefined || budget === undefined || least === undefined) {
    return refuse(advice, []);
  }
  const needed = Math.ceil(least * 1000) / 1000;
  const room = Math.floor((least + 0.5 * (1 - least)) * 100) / 100;
  if (room <= needed || room >= 0.99) {
    return refuse(
      `Weights take ${formatBytes(budget.weights.figure.value)} and one GPU has ${formatBytes(budget.total.value)}: no mem-fraction-static leaves room for them, for the KV cache and for activations.`,
      moreGpus(checked),
    );
  }
  return refuse(
    c.rules.namesShare
      ? `Loaded weights leave no GPU memory for the KV cache under --mem-fraction-static=${share}. Raise --mem-fraction-static above ${needed.toFixed(3)} (minimum viable = 1 - available/pre = ${least.toFixed(4)}, estimated).`
      : `${advice}. Weights alone take ${needed.toFixed(3)} of what is free (estimated).`,
    [
      { title: `Set mem-fraction-static to ${room}`, option: 'mem-fraction-static', value: String(room) },
      ...moreGpus(checked),
    ],
  );
}

/** Running out at the start and running out while serving need opposite moves: a share above its own choice risks the second. */
function restBelowDefault({ asked, budget, configuration: c, whatIf }: Case): readonly Finding[] {
  const written = settingsOf(asked.settings).number('mem-fraction-static');
  const usual = written === undefined ? undefined : whatIf({ 'mem-fraction-static': null })?.configuration.share;
  if (written === undefined || !budget || !usual || written <= usual.share.high) {
    return [];
  }
  const free = budget.total.value - budget.other.figure.value;
  const left = (share: number) => formatBytes((1 - share) * free);
  const value = usual.share.value.toFixed(3);
  return [
    {
      code: 'rest-below-default',
      severity: 'information',
      option: 'mem-fraction-static',
      message: `mem-fraction-static ${written} leaves ${left(written)} for activations and graphs; SGLang ${c.version.text} itself would leave ${left(usual.share.value)} here (${value}). The risk is to run out of memory while serving: then lower it. Raise it only if the start says that weights leave none.`,
      fixes: [
        { title: `Set mem-fraction-static to ${value}, SGLang’s own choice`, option: 'mem-fraction-static', value },
      ],
    },
  ];
}

/** The fewest GPUs for each layer with which it starts. */
function moreGpus({ configuration: c, whatIf }: Case): readonly Fix[] {
  const { tensor } = c.placement;
  const wanted = [2, 4, 8, 16].map((n) => n * tensor).find((n) => whatIf({ 'tp-size': n })?.verdict?.starts === true);
  return wanted === undefined
    ? []
    : [{ title: `Set tp-size to ${wanted}: ${wanted} GPUs hold it`, option: 'tp-size', value: String(wanted) }];
}

/** Share of what was free before loading that the weights take. */
function leastShare({ total, weights, other }: Budget): number | undefined {
  const free = total.value - other.figure.value;
  return free > 0 ? weights.figure.value / free : undefined;
}

/** Source: SGLang 0.5.18, srt/mem_cache/kv_cache_configurator.py. */
function cappedByStates({ pool, configuration: c }: Case): readonly Finding[] {
  const slots = pool?.parts?.find((p) => p.name === 'states')?.blocks;
  const written = c.running;
  const most = slots && Math.floor((slots.range?.high ?? slots.value) / c.states.slotsPerRequest);
  if (most === undefined || written === undefined || written <= most) {
    return [];
  }
  return [
    {
      code: 'capped-by-states',
      severity: 'warning',
      option: 'max-running-requests',
      message: `max_running_requests is capped to ${most} by the mamba state cache: each running request takes ${c.states.slotsPerRequest} of ${withCommas(slots?.range?.high ?? slots?.value ?? 0)} state slots (${c.states.strategy}).`,
      fixes: [
        {
          title: `Set max-running-requests to ${most * c.placement.attentionData}`,
          option: 'max-running-requests',
          value: String(most * c.placement.attentionData),
        },
      ],
    },
  ];
}

/** MLA under tensor parallelism alone keeps every request on every GPU. */
function repeatedLatents({ asked, configuration: c, layout }: Case): readonly Finding[] {
  const { attentionTensor, tensor, context } = c.placement;
  if (!isLatent(asked.model) || attentionTensor / context <= 1) {
    return [];
  }
  return [
    {
      code: 'latents-repeated',
      severity: 'hint',
      option: 'tp-size',
      message: `MLA is not divided: each of ${attentionTensor} GPUs keeps the same ${formatBytes(layout.bytesPerToken.value)} of every token. With enable-dp-attention and dp-size ${tensor} each GPU keeps requests of its own (and repeats the attention weights).`,
      fixes: [
        {
          title: `Set dp-size to ${tensor} with enable-dp-attention`,
          option: 'dp-size',
          value: String(tensor),
          with: { 'enable-dp-attention': 'true' },
        },
      ],
    },
  ];
}

/** Output tokens beyond these are not counted before they come: CLIP_MAX_NEW_TOKENS. */
const CLIP = 4096;
/** The ratio falls from 0.7 to a seventh of it in 600 decode steps without retraction. */
const FIRST_RATIO = 0.7;
const FLOOR = 0.14;

/** How many are admitted when each running one is expected to write `ratio` of what it may. */
function admittedAt(ratio: number, tokens: number, { prompt, output }: Case['workload'], page: number): number {
  const each = prompt + ratio * Math.min(output, CLIP);
  const first = prompt + Math.min(output, CLIP) + page;
  return tokens <= first ? 0 : Math.ceil((tokens - first) / each);
}

function admission(checked: Case): readonly Finding[] {
  const { pool, capacity, asked, configuration: c } = checked;
  if (!pool || !capacity || pool.blocks.value === 0) {
    return [];
  }
  const settings = settingsOf(asked.settings);
  const tokens = pool.blocks.value * c.page.tokens;
  const about = pool.blocks.range ? 'about ' : '';
  const hint = (option: string, message: string): readonly Finding[] => [
    { code: 'admission', severity: 'hint', option, message, fixes: [] },
  ];
  switch (settings.text('disaggregation-mode')) {
    case 'prefill':
      return hint('disaggregation-mode', prefillRule(checked, tokens, about));
    case 'decode':
      return hint(
        'num-reserved-decode-tokens',
        decodeRule(checked, tokens, settings.number('num-reserved-decode-tokens') ?? 512, about),
      );
    default:
      return hint('schedule-conservativeness', serveRule(checked, tokens, about));
  }
}

/** Prompts leave with their tokens: what decoding would take does not count. */
function prefillRule({ workload }: Case, tokens: number, about: string): string {
  return `A prefill server keeps a prompt until a decode server has it, and no output: its pool holds ${about}${withCommas(Math.floor(tokens / workload.prompt))} prompts of this workload at once.`;
}

/** Source: SGLang 0.5.18, srt/disaggregation/decode.py. */
function decodeRule({ workload }: Case, tokens: number, reserved: number, about: string): string {
  const most = Math.floor(tokens / (workload.prompt + reserved));
  return `A decode server takes a request on while its prompt fits and ${withCommas(reserved)} tokens (num-reserved-decode-tokens) stay free for it and for each other one: ${about}${withCommas(most)} fresh requests of this workload. When tokens run out, those with the fewest output tokens are retracted.`;
}

/** Source: SGLang 0.5.18, srt/managers/schedule_policy.py :: PrefillAdder, new_token_ratio_tracker.py. */
function serveRule({ workload, configuration: c }: Case, tokens: number, about: string): string {
  const start = Math.min(FIRST_RATIO * c.conservativeness, 1);
  const [first, later] = [start, start * FLOOR].map((ratio) =>
    withCommas(admittedAt(ratio, tokens, workload, c.page.tokens)),
  );
  return (
    `SGLang admits a request while its prompt, its output (at most ${withCommas(CLIP)} tokens of it) and a page are fewer than the free and evictable tokens, less what running requests may still write × a ratio that falls from ${ratioText(start)} to ${ratioText(start * FLOOR)}. ` +
    `By that, memory admits ${about}${first} fresh requests of this workload at first and up to ${about}${later} later; when tokens run out, those with the fewest output tokens are retracted and computed again.`
  );
}

const ratioText = (ratio: number): string => String(Number(ratio.toFixed(3)));
