/** Quantised checkpoints: what their names say, and how many bytes their weights take. */
import { GiB } from '../units';
import type { WeightBytes } from './model';
import { quantisationJson } from './quantisation.generated';

/** Bits per quantised weight, scales included. `whole`: embeddings and output head are quantised too. */
interface Scheme {
  readonly name: string;
  readonly bits: number;
  readonly low: number;
  readonly high: number;
  readonly whole: boolean;
}

interface Tables {
  readonly schemes: ReadonlyMap<string, Scheme>;
  readonly gguf: ReadonlyMap<string, readonly [number, number]>;
  readonly suffix: string;
}

let tables: Tables | undefined;

function load(): Tables {
  if (!tables) {
    const json = JSON.parse(quantisationJson) as {
      schemes: [string, number, number, number, number][];
      gguf: [string, number, number][];
      suffix: string;
    };
    tables = {
      schemes: new Map(
        json.schemes.map(([name, bits, low, high, whole]) => [name, { name, bits, low, high, whole: whole === 1 }]),
      ),
      gguf: new Map(json.gguf.map(([name, low, high]) => [name, [low, high]])),
      suffix: json.suffix,
    };
  }
  return tables;
}

let suffix: RegExp | undefined;

/** Is this what may follow a basename in the name of a quantised fork? */
export function isQuantSuffix(text: string): boolean {
  suffix ??= new RegExp(`^${load().suffix}$`, 'i');
  return suffix.test(text);
}

export const schemeNamed = (name: string): Scheme | undefined => load().schemes.get(name) ?? ggufScheme(name);

/** 16-bit weights, said outright by a name (`-BF16`). */
export const UNQUANTISED = '16-bit';

/** Words in names, most specific first. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/nvfp4|(?<![mx])fp4/i, 'nvfp4'],
  [/mxfp4/i, 'mxfp4'],
  [/mxfp8/i, 'mxfp8'],
  [/w4a\d+/i, 'w4a16'],
  [/w8a\d+|smoothquant/i, 'w8a8'],
  [/fp8[-_]?dynamic/i, 'fp8-dynamic'],
  [/fp8/i, 'fp8'],
  [/awq/i, 'awq'],
  [/gptq.*(?:int8|8bit)|(?:int8|8bit).*gptq/i, 'gptq-int8'],
  [/gptq/i, 'gptq-int4'],
  [/(?:bnb|bitsandbytes).*8bit/i, 'bnb-8bit'],
  [/bnb|bitsandbytes|nf4/i, 'bnb-4bit'],
  [/hqq/i, 'hqq'],
  [/mlx.*8bit/i, 'mlx-8bit'],
  [/mlx.*6bit/i, 'mlx-6bit'],
  [/mlx.*4bit/i, 'mlx-4bit'],
  [/autoround|(?:^|[-_.])(?:int4|4bit|w4)(?:$|[-_.])/i, 'int4'],
  [/(?:^|[-_.])(?:int8|8bit)(?:$|[-_.])/i, 'w8a8'],
  [/gguf/i, 'gguf'],
  [/(?:^|[-_.])(?:bf16|fp16)(?:$|[-_.])/i, UNQUANTISED],
];

const GGUF_TYPE = /(?:^|[-_.:])(I?Q\d(?:_[A-Z0-9]+)+|TQ\d_\d)(?=$|[-_.])/i;

/** The quantisation that a model's name states: a scheme, a GGUF file type, `16-bit`, or nothing. */
export function quantisationInName(name: string): string | undefined {
  const gguf = GGUF_TYPE.exec(name)?.[1]?.toUpperCase();
  if (gguf && ggufScheme(gguf)) {
    return gguf;
  }
  return WORDS.find(([word]) => word.test(name))?.[1];
}

/** `Q4_K_M` and its kin; a size the table lacks (`Q4_K_XL`) falls back on the block type, with room above. */
function ggufScheme(type: string): Scheme | undefined {
  const { gguf } = load();
  const exact = gguf.get(type);
  if (exact) {
    const [low, high] = exact;
    return { name: type, bits: (low + high) / 2, low, high, whole: true };
  }
  const base = gguf.get(type.replace(/_[A-Z]+$/, ''));
  return base && { name: type, bits: base[1] * 1.05, low: base[0], high: base[1] * 1.15, whole: true };
}

/** What decides the bytes of a checkpoint's weights. Counts are parameters. */
export interface WeightFacts {
  readonly parameters?: number;
  /** Embeddings and output head: kept in 16 bit by nearly all schemes. */
  readonly embeddings: number;
  /** Attention, state and shared-expert parameters, which some schemes leave in 16 bit. */
  readonly oftenKept: number;
  /** Parameters of MTP heads, which files hold and `parameters` leaves out; loaded only to speculate. */
  readonly draft: number;
  /** Those of a vision or audio tower are not in `parameters`. */
  readonly textOnly: boolean;
  readonly bytesPerParameter: number;
  readonly file?: { readonly bytes: number; readonly rounding: number; readonly source: string };
  /** The checkpoint's own scheme, and the parameters it covers when not all linear layers. */
  readonly own?: { readonly scheme: string; readonly covered?: number };
}

/**
 * Parameters of a vision or audio tower and of MTP layers that a computed count leaves out. Released files exceed
 * the text tower by 0.4 B (Gemma 3, Ministral 3) to 1.3 B (Qwen3.6-35B-A3B with its MTP layer).
 */
const TOWER = { low: 0.3e9, value: 0.6e9, high: 1.5e9 };
/** Towers are small beside small models: Qwen3.5-2B's file exceeds its text tower by a fifth. */
const TOWER_SHARE = 0.25;

/** Bytes of the weights as published: file size first, else parameters × bytes. */
export function ownWeightBytes(facts: WeightFacts): WeightBytes | undefined {
  const counted = facts.own ? ownScheme(facts) : unquantisedBytes(facts, facts.bytesPerParameter);
  if (!facts.file) {
    return counted;
  }
  const { bytes, rounding, source } = facts.file;
  const file = { bytes, low: bytes - rounding, high: bytes + rounding, why: `size of the weight files (${source})` };
  if (facts.draft === 0 || !counted || counted.low > file.high) {
    return file;
  }
  // The files hold MTP heads too, which are not loaded unless they speculate.
  const loaded = facts.textOnly ? file.bytes : Math.min(counted.bytes, file.bytes);
  return {
    bytes: loaded,
    low: Math.min(counted.low, loaded),
    high: file.high,
    why: `${counted.why}; at most the ${file.why}, which hold MTP layers too`,
  };
}

function ownScheme(facts: WeightFacts): WeightBytes | undefined {
  const scheme = facts.own && schemeNamed(facts.own.scheme);
  return scheme && quantisedBytes(facts, scheme, facts.own?.covered);
}

export function unquantisedBytes(facts: WeightFacts, bytesPerParameter = 2): WeightBytes | undefined {
  const { parameters } = facts;
  if (parameters === undefined) {
    return undefined;
  }
  const text = parameters * bytesPerParameter;
  const said = `${billions(parameters)} parameters × ${bytesPerParameter} bytes`;
  return addTower(facts, { bytes: text, low: text, high: text + facts.draft * bytesPerParameter, why: said });
}

/** Bytes of a fork whose name states this scheme. */
export function quantisedBytes(facts: WeightFacts, scheme: Scheme, covered?: number): WeightBytes | undefined {
  const { parameters } = facts;
  if (parameters === undefined) {
    return undefined;
  }
  const kept =
    covered === undefined ? (scheme.whole ? 0 : Math.min(facts.embeddings, parameters)) : parameters - covered;
  const bytes = (bits: number, sixteen: number) => ((parameters - sixteen) * bits) / 8 + sixteen * 2;
  const mayKeep = covered === undefined && !scheme.whole ? Math.min(facts.oftenKept, parameters - kept) : 0;
  const rest = kept > 0 ? ` and ${billions(kept)} at 2 bytes` : '';
  const doubt = mayKeep > 0 ? '; the high end leaves attention and shared experts in 16 bit' : '';
  return addTower(facts, {
    bytes: Math.round(bytes(scheme.bits, kept)),
    low: Math.round(bytes(scheme.low, kept)),
    high: Math.round(bytes(scheme.high, kept + mayKeep) + (facts.draft * scheme.high) / 8),
    why: `${billions(parameters - kept)} parameters at ${scheme.bits} bits (${scheme.name})${rest}${doubt}`,
  });
}

/** Files of unknown GGUF type: from 3-bit to 8-bit, shown as the most common one. */
export function ggufBytes(facts: WeightFacts): WeightBytes | undefined {
  const usual = ggufScheme('Q4_K_M');
  const bytes = usual && quantisedBytes(facts, { ...usual, low: 3, high: 8.5 });
  return bytes && { ...bytes, why: `${bytes.why}: the name does not say which GGUF type, Q4_K_M assumed` };
}

function addTower(facts: WeightFacts, w: WeightBytes): WeightBytes {
  if (!facts.textOnly) {
    return w;
  }
  const most = (facts.parameters ?? 0) * TOWER_SHARE;
  const add = (count: number) => Math.round(Math.min(count, most) * 2);
  return {
    bytes: w.bytes + add(TOWER.value),
    low: w.low + add(TOWER.low),
    high: w.high + add(TOWER.high),
    why: `${w.why}; about ${billions(Math.min(TOWER.value, most))} for the tower beside the text model`,
  };
}

/** `8.03 B`, `70.6 B`, `1015 B`. */
function billions(count: number): string {
  const b = count / 1e9;
  return `${b >= 100 ? b.toFixed(0) : b.toPrecision(3)} B`;
}

/** GiB to two decimals, or bytes, as listed: the bytes and how far they may be off. */
export const listedSize = (listed: number): { bytes: number; rounding: number } =>
  listed < 1e6
    ? { bytes: Math.round(listed * GiB), rounding: Math.round(0.005 * GiB) }
    : { bytes: listed, rounding: 0 };
