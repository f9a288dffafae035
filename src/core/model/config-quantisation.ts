/** `quantization_config` of a config.json: the scheme of the weights, and the KV dtype the checkpoint asks for. */
import { at, isObject, type Json, text } from './config-fields';

export interface CheckpointQuantisation {
  /** A scheme of `quantisation.ts` where we know one, else the method as it is written. */
  readonly name: string;
  /** Only routed experts are quantised. */
  readonly expertsOnly: boolean;
}

export const quantisationConfig = (config: Json): Json | undefined =>
  [config.quantization_config, config.compression_config, config.quantization].find(isObject);

export function checkpointQuantisation(q: Json | undefined): CheckpointQuantisation | undefined {
  if (!q) {
    return undefined;
  }
  const method = text(q, 'quant_method')?.toLowerCase() ?? (text(q, 'quant_algo') ? 'modelopt' : undefined);
  if (!method) {
    return undefined;
  }
  return { name: schemeOf(method, q) ?? method, expertsOnly: expertsOnly(method, q) };
}

const number = (q: Json, path: string): number | undefined => {
  const value = at(q, path);
  return typeof value === 'number' ? value : undefined;
};

function schemeOf(method: string, q: Json): string | undefined {
  const bits = number(q, 'bits') ?? number(q, 'w_bit') ?? 4;
  switch (method) {
    case 'fp8':
      return Array.isArray(at(q, 'weight_block_size')) ? 'fp8-block' : 'fp8';
    case 'fbgemm_fp8':
      return 'fp8-dynamic';
    case 'awq':
      return bits === 8 ? 'gptq-int8' : 'awq';
    case 'gptq':
    case 'auto-round':
    case 'auto_round':
      return bits === 8 ? 'gptq-int8' : bits === 4 ? 'gptq-int4' : undefined;
    case 'compressed-tensors':
      return compressedTensors(q);
    case 'modelopt':
    case 'modelopt_fp4':
    case 'modelopt_mixed':
      return modelOpt(q);
    case 'bitsandbytes':
      return at(q, 'load_in_8bit') === true || at(q, '_load_in_8bit') === true ? 'bnb-8bit' : 'bnb-4bit';
    case 'mxfp4':
      return 'mxfp4';
    default:
      return undefined;
  }
}

function compressedTensors(q: Json): string | undefined {
  const format = text(q, 'format') ?? '';
  if (/nvfp4/.test(format)) {
    return 'nvfp4';
  }
  if (/mxfp4/.test(format)) {
    return 'mxfp4';
  }
  const groups = at(q, 'config_groups');
  const weights = Object.values(isObject(groups) ? groups : {}).flatMap((g) =>
    isObject(g) && isObject(g.weights) ? [g.weights] : [],
  )[0];
  if (!weights) {
    return undefined;
  }
  const key = `${number(weights, 'num_bits') ?? ''}${text(weights, 'type') ?? ''}`;
  if (key === '8float') {
    return text(weights, 'strategy') === 'channel'
      ? 'fp8-dynamic'
      : text(weights, 'strategy') === 'block'
        ? 'fp8-block'
        : 'fp8';
  }
  if (key === '4int') {
    return number(weights, 'group_size') === 32 ? 'int4-g32' : 'w4a16';
  }
  return key === '8int' ? 'w8a8' : key === '4float' ? 'nvfp4' : undefined;
}

function modelOpt(q: Json): string | undefined {
  const algorithm = (text(q, 'quant_algo') ?? text(q, 'quantization.quant_algo') ?? '').toUpperCase();
  if (/^(?:W4A4_)?(?:NVFP4|FP4)/.test(algorithm)) {
    return 'nvfp4';
  }
  return algorithm.startsWith('FP8')
    ? 'fp8'
    : algorithm === 'W4A8_AWQ' || algorithm === 'W4A16_AWQ'
      ? 'awq'
      : undefined;
}

/** Lists of what stays in 16 bit that name attention leave only the experts quantised (gpt-oss, Kimi K2 Thinking). */
function expertsOnly(method: string, q: Json): boolean {
  const lists = ['modules_to_not_convert', 'ignore', 'ignored_layers'].map((name) => at(q, name));
  const kept = lists.flatMap((list) => (Array.isArray(list) ? list : [])).filter((x) => typeof x === 'string');
  return ['mxfp4', 'compressed-tensors'].includes(method) && kept.some((x) => /self_attn(?:\.?[*$]|$|\\?\.\*)/.test(x));
}

/** KV dtype that vLLM's `auto` takes from the checkpoint: compressed-tensors' scheme or ModelOpt's algorithm. */
export function checkpointKvDtype(q: Json | undefined): string | undefined {
  if (!q) {
    return undefined;
  }
  const algorithm = (text(q, 'kv_cache_quant_algo') ?? text(q, 'quantization.kv_cache_quant_algo') ?? '').toUpperCase();
  if (algorithm === 'FP8') {
    return 'fp8_e4m3';
  }
  if (algorithm === 'NVFP4') {
    return 'nvfp4';
  }
  const scheme = at(q, 'kv_cache_scheme');
  if (!isObject(scheme) || scheme.type !== 'float') {
    return undefined;
  }
  return scheme.num_bits === 8 ? 'fp8_e4m3' : scheme.num_bits === 4 ? 'nvfp4' : undefined;
}
