/** TabbyAPI's config.yml: its engine is ExLlama, which is none of those that are planned. Said, so that nobody waits for a plan. */
import { rangeOf } from '../text/mapped';
import { scalarText } from '../yaml/scalar';
import { entry, get } from '../yaml/view';
import type { YamlForm } from './form';

const OWN = ['cache_mode', 'cache_size', 'gpu_split_auto', 'autosplit_reserve', 'max_seq_len', 'tensor_parallel'];

export const tabby: YamlForm = {
  kind: 'yaml',
  form: 'tabby',
  recognises: (keys, reading) =>
    reading.input.form === 'tabby' ||
    (keys.has('network') &&
      keys.has('model') &&
      (keys.has('logging') || keys.has('developer') || keys.has('sampling'))),
  read: (doc, reading) => {
    const model = entry(doc, doc.root, 'model');
    if (model && OWN.filter((key) => entry(doc, get(doc, doc.root, 'model'), key)).length >= 2) {
      const message = 'TabbyAPI serves with ExLlama, which is none of the engines that are planned here';
      reading.problem(message, rangeOf(scalarText(doc, model.keyNode)));
    }
  },
};
