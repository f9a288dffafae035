/** What one request of the maximum length holds on one GPU. */
import type { Configuration, Engine, Layout, Outcome } from '../core/engines/engine';
import { type Explanation, type Figure, figure } from '../core/figure';
import { withCommas } from '../core/units';
import { settingOrigins } from './origins';

export interface AtLength {
  readonly tokens: number;
  /** Bytes of its keys and values. */
  readonly payload: Figure;
  /** Bytes of the blocks that it takes. */
  readonly reserved: Figure;
}

export function atMaxLength({ configuration, layout }: Outcome, engine: Engine<Configuration>): AtLength | undefined {
  const { maxLength: tokens } = configuration;
  if (tokens === undefined) {
    return undefined;
  }
  const hold = layout.hold(tokens);
  const explained = (value: number, symbols: string, numbers: string): Explanation => ({
    symbols,
    numbers: `${numbers} = ${withCommas(value)}`,
    origins: [
      settingOrigins(engine, configuration)('max-length') ?? {
        kind: 'derived',
        text: `one request of ${withCommas(tokens)} tokens`,
      },
    ],
  });
  const { value: perToken } = layout.bytesPerToken;
  const { value: perBlock } = layout.bytesPerBlock;
  const payload = () =>
    explained(
      hold.payload,
      'bytes per token × tokens + windows',
      `${withCommas(perToken)} × ${withCommas(tokens)} + ${withCommas(hold.payload - perToken * tokens)}`,
    );
  const reserved = () =>
    hold.blocks * perBlock === hold.reserved
      ? explained(hold.reserved, 'blocks × bytes per block', `${withCommas(hold.blocks)} × ${withCommas(perBlock)}`)
      : explained(hold.reserved, 'Σ groups: blocks × bytes per block', blocksByGroup(layout, tokens));
  return {
    tokens,
    payload: figure(hold.payload, 'bytes', payload, { scope: 'per GPU' }),
    reserved: figure(hold.reserved, 'bytes', reserved, { scope: 'per GPU' }),
  };
}

/** Groups whose blocks differ in size, each with its own pool. */
const blocksByGroup = (layout: Layout, tokens: number): string =>
  layout
    .groupBlocks(tokens)
    .map((blocks, i) => `${withCommas(blocks)} × ${withCommas(layout.groups[i]?.bytesPerBlock ?? 0)}`)
    .join(' + ');
