// Bits per weight of quantisation schemes, and the words that names of quantised forks are made of.

/** Our scheme name -> methods of the facts whose bits it may have: usual first. */
const SCHEMES = {
  fp8: ['fp8_per_tensor', 'fp8_per_channel', 'fp8_block_128x128'],
  'fp8-block': ['fp8_block_128x128'],
  'fp8-dynamic': ['fp8_per_channel'],
  w8a8: ['int8_w8a8'],
  'gptq-int8': ['gptq_int8_g128'],
  awq: ['awq_int4_g128', 'awq_int4_g64'],
  'gptq-int4': ['gptq_int4_g128', 'gptq_int4_channel', 'gptq_int4_g32'],
  w4a16: ['compressed_tensors_w4a16_g128_sym', 'gptq_int4_channel', 'compressed_tensors_int4_g32_sym'],
  'int4-g32': ['compressed_tensors_int4_g32_sym'],
  int4: ['gptq_int4_g128', 'gptq_int4_channel', 'gptq_int4_g32'],
  mxfp4: ['mxfp4'],
  mxfp8: ['mxfp8'],
  nvfp4: ['nvfp4'],
  'bnb-4bit': ['bnb_nf4_double_quant', 'bnb_nf4'],
  'bnb-8bit': ['bnb_int8'],
  hqq: ['hqq_int4_g64'],
  'mlx-4bit': ['mlx_4bit_g64'],
  'mlx-6bit': ['mlx_6bit_g64'],
  'mlx-8bit': ['mlx_8bit_g64'],
};

export function quantRows(quant, rules) {
  const bits = new Map(quant.methods.map((m) => [m.name, m]));
  const schemes = Object.entries(SCHEMES).map(([name, methods]) => {
    const all = methods.map((m) => bits.get(m).bits_per_weight);
    const whole = /embeddings and lm_head are quantised|^norms, routers$/.test(
      bits.get(methods[0]).kept_16bit_by_default,
    );
    return [name, all[0], Math.min(...all), Math.max(...all), whole ? 1 : 0];
  });
  return { schemes, gguf: gguf(quant), suffix: suffix(rules) };
}

/** File types of GGUF: bits per weight of the whole file, as logs show them. */
function gguf(quant) {
  const planned = quant.gguf_file_types_planning.filter((t) => t.confidence !== 'recall');
  const names = new Set(planned.map((t) => t.file_type));
  const blocks = quant.gguf_tensor_types.items.filter((t) => !names.has(t.type) && !/^(Q8_K|Q8_1|F32)$/.test(t.type));
  return [
    ...planned.map((t) => [t.file_type, t.bpw_low, t.bpw_high]),
    ...blocks.map((t) => [t.type, t.bits_per_weight, t.bits_per_weight]),
  ];
}

/** Draft heads carry their target's name: a name with these words is another model, not a quantised fork. */
const suffix = (rules) => rules.quant_suffix.replace('|eagle3?|speculator', '').replace(/\?$/, '');
