/** What a term of the budget is, and the parts of the engine that more than one of them depends on. */
import type { Origin } from '../../figure';
import type { Model } from '../../model/model';
import { between, type Estimate, exactly, formatBytes } from '../../units';
import type { Hardware } from '../engine';
import type { VllmConfiguration } from './configure';
import type { Settings } from './settings';

/** A term in words. */
export interface Told {
  readonly why: string;
  readonly symbols: string;
  readonly numbers: string;
}

/** Words are made on demand: most plans show the sum alone. */
export interface Part {
  readonly estimate: Estimate;
  readonly tell: () => Told;
}

export interface Term extends Part {
  readonly tell: () => Told & { readonly origins: readonly Origin[]; readonly source: string };
}

/** One pipeline stage of one launch on one GPU: all that the terms are made from. */
export interface StageInput {
  readonly stage: number;
  readonly model: Model;
  readonly c: VllmConfiguration;
  readonly settings: Settings;
  readonly hardware: Hardware;
}

export const PROFILES =
  'llm-d-incubation/llm-d-planner@875a4fd6:accuracy/accuracy_report.md (vLLM 0.15–0.19, H100), llm-d/llm-d-benchmark@25933486:config_explorer/empirical-vllm-memory-results.md';

export const whole = (e: Estimate): Estimate => between(Math.round(e.low), Math.round(e.value), Math.round(e.high));

export const times = (e: Estimate, factor: number): Estimate =>
  between(e.low * factor, e.value * factor, e.high * factor);

/** The estimate whose ends are the larger of both. */
export const larger = (a: Estimate, b: Estimate): Estimate =>
  between(Math.max(a.low, b.low), Math.max(a.value, b.value), Math.max(a.high, b.high));

export const nothing = (why: string, source: string): Term => ({
  estimate: exactly(0),
  tell: () => ({ why, symbols: '0', numbers: '0', origins: [{ kind: 'derived', text: why }], source }),
});

export const spread = (e: Estimate): string => `between ${formatBytes(e.low)} and ${formatBytes(e.high)}`;

export const isLastStage = ({ stage, c }: StageInput): boolean => stage === c.placement.pipeline - 1;

/** A limit is a count, or an object with a count and sizes. */
const countOf = (limit: unknown): unknown =>
  typeof limit === 'object' && limit !== null && 'count' in limit ? limit.count : limit;

/** Multimodal models whose encoder runs in the profile: not for text alone, nor with a limit of 0 for every kind. */
export function profilesEncoder({ model, c, settings }: StageInput): boolean {
  const limits = Object.values(settings.object('limit-mm-per-prompt') ?? {});
  const none = limits.length > 0 && limits.every((limit) => countOf(limit) === 0);
  return model.multimodal && !c.languageOnly && !none;
}
