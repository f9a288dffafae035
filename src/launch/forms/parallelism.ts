/** `parallelism:` of LLMInferenceService and of llm-d's charts: GPUs of one replica, said beside its containers. */
import { isMap, type Node } from 'yaml';
import { isOptionKey } from '../assemble';
import { readSettings } from '../config-file';
import type { LaunchEngine } from '../engines';
import type { LaunchOption } from '../launch';
import type { Reading } from '../reading';
import type { YamlDocument } from '../yaml/document';
import { get, scalarAt, textAt } from '../yaml/view';
import { namedEngine } from './engine-names';
import { modelUri } from './model-uri';

const KEYS: Readonly<Record<string, string>> = {
  tensor: 'tensor-parallel-size',
  pipeline: 'pipeline-parallel-size',
  data: 'data-parallel-size',
  dataLocal: 'data-parallel-size-local',
  expert: 'enable-expert-parallel',
};

/** Of the nearest map around that has it. */
export function parallelismIn(
  doc: YamlDocument,
  reading: Reading,
  engine: LaunchEngine | undefined,
  around: readonly Node[],
): readonly LaunchOption[] {
  const owner = around.find((m) => isMap(m) && m.has('parallelism'));
  const map = owner ? get(doc, owner, 'parallelism') : null;
  const flag = (k: string) => (engine && isOptionKey(engine, KEYS[k] ?? '') ? KEYS[k] : undefined);
  return engine && map ? readSettings({ doc, engine, lines: reading.lines(), flag }, map) : [];
}

/** An LLMInferenceService runs vLLM, unless the runtime it names is another's. */
export function serviceEngine(doc: YamlDocument, reading: Reading, object: Node): LaunchEngine | undefined {
  const named = namedEngine(reading, textAt(doc, object, 'spec', 'runtime') ?? '');
  return named ?? reading.engines.find((e) => e.id === 'vllm');
}

/** `speculator:` of an LLMInferenceService: the draft model, and the keys of vLLM's own configuration. */
export function speculatorIn(
  doc: YamlDocument,
  reading: Reading,
  engine: LaunchEngine,
  spec: Node | null,
): readonly LaunchOption[] {
  const speculator = get(doc, spec, 'speculator');
  if (!speculator || engine.id !== 'vllm') {
    return [];
  }
  const flag = (k: string) => `speculative-config.${k}`;
  const options = readSettings({ doc, engine, lines: reading.lines(), flag }, get(doc, speculator, 'config'));
  const uri = scalarAt(doc, get(doc, speculator, 'model', 'uri'));
  const model = uri && modelUri(uri);
  const row = options[0]?.spec;
  return model && row
    ? [
        {
          name: flag('model'),
          spec: row,
          value: model.text,
          raw: reading.text.slice(model.range.start, model.range.end),
          origin: 'file',
          line: reading.lines().line(model.range.start),
          range: model.range,
          nameRange: model.range,
        },
        ...options,
      ]
    : options;
}
