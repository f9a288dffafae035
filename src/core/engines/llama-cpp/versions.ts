/** Defaults of llama-server by build; what builds change in sizes stands in `core/ggml/rules.ts`. */
import type { Origin } from '../../figure';
import type { EngineVersion } from '../engine';
import { type Change, rulesAt, versionOf } from '../version-rules';

export interface ServerRules {
  /** Context when none is asked for; 0 = the model's length. */
  readonly context: number;
  /** Slots when none are asked for; automatic ones share a pool. */
  readonly slots: number;
  readonly flash: 'off' | 'auto';
  readonly offloads: boolean;
  readonly fits: boolean;
  /** What fitting starts from: the model's length, or as much for every slot. */
  readonly fitStart: 'length' | 'streams' | 'slots';
  readonly hostCache: boolean;
}

const FIRST: ServerRules = {
  context: 512,
  slots: 1,
  flash: 'off',
  offloads: false,
  fits: false,
  fitStart: 'length',
  hostCache: false,
};

/** Builds are about those of the commit's date where no log shows them. */
const CHANGES: readonly Change<ServerRules>[] = [
  ['b3088', { context: 0 }, 'June 2024: the model’s own length'],
  ['b4100', { context: 4096 }, 'November 2024: 4096 (a log of b4406 shows it, one of b3972 does not)'],
  ['b6325', { flash: 'auto', offloads: true }, 'ggml-org/llama.cpp#15434, August 2025'],
  ['b6740', { hostCache: true }, 'October 2025'],
  ['b6927', { slots: 4 }, 'ggml-org/llama.cpp#16736, November 2025'],
  ['b7410', { context: 0, fits: true }, 'December 2025'],
  ['b8000', { fitStart: 'streams' }, 'early 2026'],
  ['b11240', { fitStart: 'slots' }, 'de3ff815, 2026-09-28, as in 0.5.0; builds go on beside the releases'],
];

export const LLAMA_CPP_VERSIONS: readonly string[] = ['b3000', 'b4400', 'b5900', 'b7000', 'b7700', 'b10434', '0.5.0'];

export const serverRules = (version: string): ServerRules => rulesAt(FIRST, CHANGES, version);

/** About the build of 0.5.0's last days, October 2026: 0.6.0 came on 2026-10-10. */
const NEWEST_BUILD = 11_550;

/** `b5890` and `5890` are builds. */
export function llamaVersion(asked: { readonly text: string; readonly origin: Origin } | undefined): EngineVersion {
  const build = /^\s*(\d{3,})\s*$/.exec(asked?.text ?? '')?.[1];
  const version = versionOf(asked && build ? { ...asked, text: `b${build}` } : asked, 'llama.cpp', LLAMA_CPP_VERSIONS);
  return Number(/^b(\d+)/.exec(version.text)?.[1]) > NEWEST_BUILD
    ? {
        ...version,
        note: `llama.cpp ${version.text} is newer than 0.5.0, the newest known here: planned with its rules.`,
      }
    : version;
}
