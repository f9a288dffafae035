/** What vLLM's checks share: the settings by type, and before and after of another setting in words. */
import { requestBlocks } from '../../capacity/longest';
import type { Figure } from '../../figure';
import { type Estimate, exactly, formatBytes, withCommas } from '../../units';
import type { Checked, Finding, Fix, Outcome, Severity } from '../engine';
import { availability, type OptionValue } from '../option';
import type { VllmConfiguration } from './configure';
import { VLLM_OPTIONS } from './options';
import { type Settings, settingsOf } from './settings';

export interface Context extends Checked<VllmConfiguration> {
  readonly settings: Settings;
  /** Written with a value that is known. */
  written(option: string): boolean;
  /** This version takes the option. */
  takes(option: string): boolean;
}

export function contextOf(checked: Checked<VllmConfiguration>): Context {
  const { configuration, layout, budget, pool, verdict, capacity, asked, workload, promptSaid, whatIf } = checked;
  const settings = settingsOf(asked.settings);
  const { text } = configuration.version;
  // Named one by one: spreading a whole outcome costs more than all the checks.
  return {
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
    settings,
    written: (option) => settings.has(option) && !settings.unknown.has(option),
    takes: (option) => {
      const spec = VLLM_OPTIONS.find((o) => o.name === option);
      return spec !== undefined && availability(spec, text) === 'ok';
    },
  };
}

export const finding = (
  code: string,
  severity: Severity,
  option: string | undefined,
  message: string,
  fixes: readonly Fix[] = [],
): Finding => ({ code, severity, option, message, fixes });

export const fix = (title: string, option: string, value: OptionValue): Fix => ({
  title,
  option,
  value: value === null ? 'None' : String(value),
});

export const ends = ({ value, range }: Figure): Estimate => range ?? exactly(value);

/** `12`, or `about 12` where it hangs on an estimate. */
export const about = (figure: Figure): string => {
  const { low, high } = ends(figure);
  return `${low === high ? '' : 'about '}${withCommas(Math.floor(figure.value))}`;
};

export const several = (n: number, what: string): string => `${withCommas(n)} ${what}${n === 1 ? '' : 's'}`;

type Result = Outcome<VllmConfiguration>;

/** `150 → 307 requests of the workload`, in blocks' stead bytes per token while the pool is unknown; undefined when it is no better, or not `times` as good. */
export function gain(before: Result, after: Result | undefined, times = 1): string | undefined {
  if (!after) {
    return undefined;
  }
  const [was, is] = [before.capacity?.paged.requests, after.capacity?.paged.requests];
  if (was && is) {
    return is.value > was.value * times ? `${about(was)} → ${about(is)} requests at the workload` : undefined;
  }
  const [costs, cost] = [before.layout.bytesPerToken.value, after.layout.bytesPerToken.value];
  return cost < costs ? `${formatBytes(costs)} → ${formatBytes(cost)} per token and GPU` : undefined;
}

/** Requests of max length that the pool holds, as a share: what windows and groups change. */
export function concurrencyOf({ pool, layout, configuration }: Result): number | undefined {
  const { maxLength } = configuration;
  return pool && maxLength !== undefined ? pool.usableBlocks / requestBlocks(layout, maxLength) : undefined;
}
