/** `config.json` beside an engine that `trtllm-build` made: what was built in (`build_config`), and what for (`pretrained_config`). */
import { isMap } from 'yaml';
import { assemble } from '../assemble';
import { readSettings } from '../config-file';
import { rangeOf } from '../text/mapped';
import { NOTHING, started } from '../words/start';
import { scalarText } from '../yaml/scalar';
import { entry, get, nodeRange, textAt } from '../yaml/view';
import type { YamlForm } from './form';

const BUILT: Readonly<Record<string, string>> = {
  max_batch_size: 'max_batch_size',
  max_seq_len: 'max_seq_len',
  max_num_tokens: 'max_num_tokens',
  max_beam_width: 'max_beam_width',
  max_input_len: 'max_input_len',
  opt_num_tokens: 'opt_num_tokens',
  kv_cache_type: 'kv_cache_type',
};

const PLUGINS: Readonly<Record<string, string>> = {
  tokens_per_block: 'tokens_per_block',
  use_paged_context_fmha: 'use_paged_context_fmha',
};

const SPREAD: Readonly<Record<string, string>> = {
  tp_size: 'tensor_parallel_size',
  pp_size: 'pipeline_parallel_size',
  cp_size: 'context_parallel_size',
};

const QUANTISED: Readonly<Record<string, string>> = { kv_cache_quant_algo: 'quant_config.kv_cache_quant_algo' };

export const trtllmEngine: YamlForm = {
  kind: 'yaml',
  form: 'trtllm-engine',
  recognises: (keys, reading) =>
    reading.input.form === 'trtllm-engine' || (keys.has('build_config') && keys.has('pretrained_config')),
  read: (doc, reading) => {
    const engine = reading.engines.find((e) => e.id === 'tensorrt-llm');
    const build = entry(doc, doc.root, 'build_config');
    const pretrained = get(doc, doc.root, 'pretrained_config');
    if (!engine || !build || !isMap(build.value)) {
      return;
    }
    const settings = (map: Parameters<typeof readSettings>[1], names: Readonly<Record<string, string>>) =>
      readSettings({ doc, engine, lines: reading.lines(), flag: (key) => names[key] }, map).filter(
        (o) => o.raw !== 'null',
      );
    const architecture = textAt(doc, pretrained, 'architecture');
    const file = reading.input.name.replace(/^.*[\\/]/, '');
    const key = entry(doc, doc.root, 'pretrained_config')?.keyNode;
    // The same file describes the model.
    const model = key && { text: file, range: rangeOf(scalarText(doc, key)) };
    reading.found({
      ...assemble(reading, {
        form: 'trtllm-engine',
        title: architecture === undefined ? 'engine' : `engine of ${architecture}`,
        range: nodeRange(doc, doc.root as NonNullable<typeof doc.root>),
        start: started(NOTHING, engine, rangeOf(scalarText(doc, build.keyNode)), [], false),
        shell: false,
        options: [
          ...settings(build.value, BUILT),
          ...settings(get(doc, build.value, 'plugin_config'), PLUGINS),
          ...settings(get(doc, pretrained, 'mapping'), SPREAD),
          ...settings(get(doc, pretrained, 'quantization'), QUANTISED),
        ],
      }),
      ...(model ? { model } : {}),
    });
  },
};
