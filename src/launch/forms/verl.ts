/** verl's trainer configuration in YAML: the engine of `actor_rollout_ref.rollout`. */
import { isMap } from 'yaml';
import { assemble } from '../assemble';
import { readSettings } from '../config-file';
import type { HardwareHint, Launch } from '../launch';
import { rangeOf } from '../text/mapped';
import { engineNamed, rolloutFlag, rolloutNames } from '../words/hydra';
import { NOTHING, started } from '../words/start';
import type { YamlDocument } from '../yaml/document';
import { keyInsertion } from '../yaml/insertion';
import { scalarText } from '../yaml/scalar';
import { entry, get, nodeRange, scalarAt } from '../yaml/view';
import type { YamlForm } from './form';

export const verl: YamlForm = {
  kind: 'yaml',
  form: 'verl',
  recognises: (keys, reading) => reading.input.form === 'verl' || keys.has('actor_rollout_ref'),
  read: (doc, reading) => {
    const rollout = entry(doc, get(doc, doc.root, 'actor_rollout_ref'), 'rollout');
    const name = scalarAt(doc, get(doc, rollout?.value, 'name'));
    const engine = name && engineNamed(name.text, reading.engines);
    if (!rollout || !isMap(rollout.value) || !engine) {
      return;
    }
    const settings = { doc, engine, lines: reading.lines(), flag: (key: string) => rolloutFlag(engine, key)?.slice(2) };
    const own = readSettings(
      { doc, engine, lines: reading.lines(), flag: (key: string) => key },
      get(doc, rollout.value, 'engine_kwargs', engine.id),
    );
    const names = rolloutNames(engine);
    const insertion = keyInsertion(doc, rollout.value);
    const key = rangeOf(scalarText(doc, rollout.keyNode));
    const model = modelOf(doc);
    const launch = assemble(reading, {
      form: 'verl',
      title: 'rollout',
      range: { start: key.start, end: Math.max(key.end, nodeRange(doc, rollout.value).end) },
      start: started({ ...NOTHING, hardware: hardwareOf(doc) }, engine, key, [], false),
      shell: false,
      options: [...readSettings(settings, rollout.value), ...own],
      ...(insertion ? { insertion: { ...insertion, names, only: ofThese(names) } } : {}),
    });
    reading.found({ ...launch, ...(launch.model || !model ? {} : { model }) });
  },
};

const ofThese = (names: Readonly<Record<string, string>>): RegExp =>
  new RegExp(`^(?:${Object.values(names).join('|')})$`);

function modelOf(doc: YamlDocument): Launch['model'] {
  const path = scalarAt(doc, get(doc, doc.root, 'actor_rollout_ref', 'model', 'path'));
  return path && { text: path.text, range: rangeOf(path) };
}

function hardwareOf(doc: YamlDocument): HardwareHint {
  const gpus = scalarAt(doc, get(doc, doc.root, 'trainer', 'n_gpus_per_node'));
  return gpus && /^\d+$/.test(gpus.text) ? { count: { value: Number(gpus.text), range: rangeOf(gpus) } } : {};
}
