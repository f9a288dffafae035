/** One catalogue row, under the name that was asked for, as a `Model`. */
import type { HeadsRow, ModelRow, RopeRow } from './catalogue-row';
import { type AttentionShape, expandPattern, type Heads, kvLayers, mtpLayers } from './layers';
import type { KvLayer, Model, ModelDtype, RopeScaling, StateShape, WeightBytes } from './model';
import { draftParameters, oftenKeptParameters } from './parameters';
import {
  ggufBytes,
  listedSize,
  ownWeightBytes,
  quantisationInName,
  quantisedBytes,
  schemeNamed,
  UNQUANTISED,
  unquantisedBytes,
  type WeightFacts,
} from './quantisation';

const DTYPES: Readonly<Record<string, ModelDtype>> = { h: 'float16', f: 'float32' };

/** `id` is the name the model goes by, `asked` what the launch gave. */
export function modelFromRow(row: ModelRow, sources: readonly string[], id: string, asked: string): Model {
  const shape = shapeOf(row);
  const [hiddenSize, attentionHeads, kvHeads, , intermediateSize, vocabSize] = row.d;
  const letters = expandPattern(row.l);
  const layers = kvLayers(letters, shape);
  const variant = variantOf(row, asked);
  const named = quantisationInName(asked.slice(asked.lastIndexOf('/') + 1)) ?? quantisationInName(asked);
  const own = row.u && new RegExp(row.u, 'i').test(asked) ? undefined : row.z;
  const mtp = mtpLayers(letters, shape, row.n ?? 0);
  const facts = weightFacts(row, own, { layers, mtp }, sources);
  const quantised = squaresByPublisher(asked) ?? quantisation(named, own?.[0]);
  const rope = ropeOf(variant.rope);
  const weights = weightsUnder(named, own?.[0], facts);
  return {
    id,
    source: { kind: 'catalogue', text: `catalogue: ${row.s.map((i) => sources[i]).join('; ')}` },
    ...(asked === id ? {} : { resolvedFrom: asked }),
    architecture: row.c,
    layers,
    mtpLayers: mtp,
    attentionHeads,
    kvHeads,
    hiddenSize,
    intermediateSize,
    vocabSize: variant.vocabulary || vocabSize,
    ...(row.e ? { experts: experts(row.e) } : {}),
    dtype: DTYPES[row.t ?? ''] ?? 'bfloat16',
    ...(row.sd ? { stateDtype: 'float32' as const } : {}),
    ...(variant.positions ? { maxPositions: variant.positions } : {}),
    ...(rope ? { rope } : {}),
    ...(quantised ? { quantisation: quantised } : {}),
    ...(row.P === undefined ? {} : { parameters: row.P }),
    ...(weights ? { weights } : {}),
    multimodal: row.m === 1,
  };
}

const headsOf = ([kvHeads, headDim, valueDim]: HeadsRow): Heads => ({ kvHeads, headDim, valueDim });

function shapeOf(row: ModelRow): AttentionShape {
  const [, , kvHeads, headDim] = row.d;
  const usual = { kvHeads, headDim, valueDim: headDim };
  const [indexDim, ...indexLayers] = row.ix ?? [];
  return {
    full: row.fk ? headsOf(row.fk) : usual,
    windowed: row.sk ? headsOf(row.sk) : usual,
    ...(row.w === undefined ? {} : { window: row.w }),
    ...(row.k === undefined ? {} : { chunk: row.k }),
    ...(row.la ? { latent: { rank: row.la[0], rope: row.la[1] } } : {}),
    ...(indexDim ? { indexer: { headDim: indexDim, ...(indexLayers.length > 0 ? { layers: indexLayers } : {}) } } : {}),
    ...(row.cr ? { compressed: compressedOf(row.cr, headDim) } : {}),
    ...(row.sh ? { sharedTail: row.sh } : {}),
    ...(row.x ? { crossHeads: usual } : {}),
    ...(row.st ? { state: stateShape(row.st) } : {}),
  };
}

function compressedOf([rope = 0, indexDim = 0, ...runs]: readonly number[], dim: number) {
  const ratios: number[] = [];
  for (let i = 0; i + 1 < runs.length; i += 2) {
    ratios.push(...new Array<number>(runs[i + 1] as number).fill(runs[i] as number));
  }
  return { dim, rope, indexDim, ratios };
}

/** `1` Mamba, `2` Mamba 2, `g` gated delta net, `k` KDA, `c` short convolution, `l` plain linear attention; then their sizes. */
function stateShape([type, a = 0, b = 0, c = 0, d = 0, e = 0]: readonly [string, ...number[]]): StateShape {
  switch (type) {
    case '1':
      return { type: 'mamba1', inner: a, stateSize: b, conv: c };
    case '2':
      return { type: 'mamba2', heads: a, headDim: b, stateSize: c, groups: d, conv: e };
    case 'g':
      return { type: 'gated-delta-net', keyHeads: a, valueHeads: b, keyDim: c, valueDim: d, conv: e };
    case 'k':
      return { type: 'kda', heads: a, headDim: b, conv: c };
    case 'c':
      return { type: 'short-conv', dim: a, conv: b };
    default:
      return { type: 'linear', heads: a, headDim: b };
  }
}

const experts = ([count, perToken, intermediate, shared]: NonNullable<ModelRow['e']>) => ({
  experts: count,
  expertsPerToken: perToken,
  intermediate,
  sharedIntermediate: shared,
});

function ropeOf(row: RopeRow | undefined): RopeScaling | undefined {
  if (!row) {
    return undefined;
  }
  const [type, factor, original] = row;
  return { type, ...(factor ? { factor } : {}), ...(original ? { originalMaxPositions: original } : {}) };
}

/** For each field the first variant whose pattern the asked name matches, else the row's own value. */
function variantOf(row: ModelRow, asked: string) {
  const matching = (row.v ?? []).filter(([pattern]) => new RegExp(pattern, 'i').test(asked));
  return {
    positions: matching.find((v) => v[1])?.[1] ?? row.p,
    rope: matching.find((v) => v[2])?.[2] || row.r,
    vocabulary: matching.find((v) => v[3])?.[3],
  };
}

function weightFacts(
  row: ModelRow,
  own: ModelRow['z'],
  { layers, mtp }: { readonly layers: readonly KvLayer[]; readonly mtp: readonly KvLayer[] },
  sources: readonly string[],
): WeightFacts {
  const [hidden, heads, , , intermediate, vocabulary] = row.d;
  const embeddings = hidden * vocabulary * (row.T ? 1 : 2);
  const mlpWidth = row.e ? row.e[0] * row.e[2] + row.e[3] : intermediate;
  const listing = sources[row.s.find((i) => /kaito|exo/.test(sources[i] ?? '')) ?? -1];
  const file = row.W !== undefined && own === row.z;
  return {
    ...(row.P === undefined ? {} : { parameters: row.P }),
    embeddings,
    draft: draftParameters(mtp, hidden, heads, mlpWidth, embeddings),
    oftenKept: row.e ? oftenKeptParameters(layers, hidden, heads, row.e[3]) : 0,
    textOnly: row.tx === 1,
    bytesPerParameter: row.t === 'f' ? 4 : 2,
    ...(file ? { file: { ...listedSize(row.W ?? 0), source: listing ?? 'as listed' } } : {}),
    ...(own ? { own: { scheme: own[0], ...(own[1] ? { covered: own[1] } : {}) } } : {}),
  };
}

const sameFamily = (a: string, b: string): boolean => a.replace(/-.*/, '') === b.replace(/-.*/, '');

/** Names that say FP8 and whose publisher always means squares: Qwen's model cards, "fine-grained fp8 quantization with block size of 128". */
const squaresByPublisher = (asked: string): string | undefined =>
  /^qwen\/qwen3.*-fp8$/i.test(asked) ? 'fp8-block' : undefined;

function quantisation(named: string | undefined, own: string | undefined): string | undefined {
  if (named === UNQUANTISED) {
    return undefined;
  }
  return named && !(own && sameFamily(named, own)) ? named : own;
}

/** Weights of the fork that the name states, or of the checkpoint as published. */
function weightsUnder(named: string | undefined, own: string | undefined, facts: WeightFacts): WeightBytes | undefined {
  if (named === undefined || (own && sameFamily(named, own))) {
    return ownWeightBytes(facts);
  }
  if (named === UNQUANTISED) {
    return own ? unquantisedBytes(facts) : ownWeightBytes(facts);
  }
  const scheme = schemeNamed(named);
  return scheme ? quantisedBytes(facts, scheme) : named === 'gguf' ? ggufBytes(facts) : undefined;
}
