/** `--fit`: a shorter context, then fewer layers on the GPU. Source: llama.cpp v0.5.0, common/fit.cpp. */
import type { ConfigureInput, Finding, Hardware } from '../engines/engine';
import { formatBytes, withCommas } from '../units';
import { HOST, kvDevices, type Split, splitOf } from './devices';
import { termsOf } from './memory';
import type { ContextSpec, Sizes } from './sizes';
import { bytesAt, tokensFor } from './verdict';
import type { Wanted } from './wanted';

export interface Base {
  readonly input: ConfigureInput;
  readonly wanted: Wanted;
  readonly blocks: number;
  readonly specAt: (tokens: number) => ContextSpec;
  readonly sizesAt: (tokens: number) => Sizes;
}

export interface Fitted {
  readonly tokens: number;
  readonly split: Split;
  readonly findings: readonly Finding[];
}

function split({ wanted, blocks }: Base, offloaded: number): Split {
  const { shares, mainOnly, kvOffload } = wanted;
  return splitOf({ layers: blocks, shares, offloaded, mainOnly, kvOffload });
}

/**
 * Source: llama.cpp v0.5.0, common/fit.cpp. The context is shortened first, if it was not asked for; then layers go to
 * the host, if nothing says where they belong.
 */
export function fittedTo(base: Base): Fitted {
  const { wanted } = base;
  const all = split(base, wanted.offloaded ?? base.blocks + 1);
  const asked = wanted.tokens ?? wanted.freeTokens;
  const unchanged: Fitted = { tokens: asked, split: all, findings: [] };
  if (!wanted.fit || roomFor(base, all, asked, 'value') === undefined) {
    return unchanged;
  }
  const tokens = wanted.tokens ?? fittedTokens(base, all, asked, 'value');
  const shorter = tokens < asked ? shortened(base, all, asked, tokens) : undefined;
  const moved = wanted.fit.movesLayers ? fewerLayers(base, all, tokens) : undefined;
  return {
    tokens,
    split: moved?.split ?? all,
    findings: [...(shorter ? [shorter] : []), ...(moved ? [moved.finding] : [])],
  };
}

type End = 'low' | 'value' | 'high';

/** Bytes for the caches of each device that keeps some, the margin left free; undefined when memory is not known. */
function roomFor(
  { input, wanted, specAt, sizesAt }: Base,
  split: Split,
  tokens: number,
  end: End,
): readonly (readonly [device: number, bytes: number])[] | undefined {
  const { model, hardware, given } = input;
  const sizes = sizesAt(tokens);
  const devices = kvDevices(
    split,
    sizes.caches.flatMap((c) => c.layers.map((l) => l.at)),
  );
  const margin = wanted.fit?.margin ?? 0;
  if (devices.includes(HOST)) {
    return undefined;
  }
  if (given.kvMemory !== undefined) {
    return devices.map((d) => [d, given.kvMemory as number]);
  }
  if (!hardware || wanted.weightsMoved) {
    return undefined;
  }
  const room = devices.map((device) => {
    const terms = termsOf({ model, spec: specAt(tokens), sizes, split, hardware: hardware as Hardware, given, device });
    return terms && ([device, terms.left[end] - margin] as const);
  });
  return room.every((r) => r !== undefined) ? room : undefined;
}

function fittedTokens(base: Base, split: Split, asked: number, end: End): number {
  const { wanted, sizesAt } = base;
  const c = { split, sizesAt, sequences: wanted.context.sequences, pooled: wanted.pooled };
  const least = Math.min(asked, wanted.fit?.least ?? asked);
  // The compute buffer shrinks with the context: once more with the context that was found.
  let tokens = asked;
  for (let round = 0; round < 2; round++) {
    const room = roomFor(base, split, tokens, end) ?? [];
    tokens = Math.max(least, Math.min(asked, ...room.map(([device, bytes]) => tokensOn(c, device, bytes, asked))));
  }
  return tokens;
}

/** The whole asked-for context need not be a multiple of 256. */
const tokensOn = (c: Parameters<typeof tokensFor>[0], device: number, bytes: number, asked: number): number =>
  bytesAt(c, c.sizesAt(asked), device) <= bytes ? asked : tokensFor(c, device, bytes, asked);

function shortened(base: Base, split: Split, asked: number, tokens: number): Finding {
  const { wanted } = base;
  const [low, high] = (['low', 'high'] as const).map((end) => fittedTokens(base, split, asked, end));
  const range = low === high ? '' : ` (estimated: between ${withCommas(low ?? 0)} and ${withCommas(high ?? 0)})`;
  return {
    code: 'fitted-context',
    severity: 'information',
    option: wanted.contextOption,
    message: `No context is asked for, so ${wanted.engine} shortens it to what fits: about ${withCommas(tokens)} of ${withCommas(asked)} tokens${range}. Say ${wanted.contextOption} to have the same every time.`,
    fixes: [
      {
        title: `Set ${wanted.contextOption} to ${withCommas(low ?? tokens)}, which fits for sure`,
        option: wanted.contextOption,
        value: String(low ?? tokens),
      },
    ],
  };
}

/** As many layers as fit; experts of a mixture go first, and leave keys and values where they are. */
function fewerLayers(
  base: Base,
  all: Split,
  tokens: number,
): { readonly split: Split; readonly finding: Finding } | undefined {
  const { wanted, input, sizesAt, blocks } = base;
  const sizes = sizesAt(tokens);
  const fits = (s: Split, end: End): boolean => {
    const room = roomFor(base, s, tokens, end);
    return room === undefined || room.every(([device, bytes]) => bytesAt({ split: s }, sizes, device) <= bytes);
  };
  if (fits(all, 'high') || input.given.kvMemory !== undefined) {
    return undefined;
  }
  const moves = (message: string): Finding => ({
    code: 'fit-moves-layers',
    severity: 'warning',
    option: wanted.offloadOption,
    message,
    fixes: [],
  });
  if (input.model.experts) {
    return {
      split: all,
      finding: moves(
        `Weights and caches do not fit: ${wanted.engine} keeps experts in the host’s memory, at about ${formatBytes(spilled(base, all, tokens))} of them, and is slow there. Keys and values stay on the GPU.`,
      ),
    };
  }
  let offloaded = blocks;
  while (offloaded > 0 && !fits(split(base, offloaded), 'value')) {
    offloaded--;
  }
  return {
    split: split(base, offloaded),
    finding: moves(
      `Weights and caches do not fit: about ${offloaded} of ${blocks + 1} layers go to the GPU (estimated), the others with their keys and values to the host’s memory. ${wanted.engine} starts, and is slow.`,
    ),
  };
}

/** Bytes that are too many over all devices. */
function spilled(base: Base, all: Split, tokens: number): number {
  const sizes = base.sizesAt(tokens);
  return (roomFor(base, all, tokens, 'value') ?? []).reduce(
    (total, [device, bytes]) => total + Math.max(0, bytesAt({ split: all }, sizes, device) - bytes),
    0,
  );
}
