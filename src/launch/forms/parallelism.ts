/** `parallelism:` of LLMInferenceService and of llm-d's charts: GPUs of one replica, said beside its containers. */
import { isMap, type Node } from 'yaml';
import { readSettings } from '../config-file';
import type { LaunchEngine } from '../engines';
import type { LaunchOption } from '../launch';
import type { Reading } from '../reading';
import type { YamlDocument } from '../yaml/document';
import { get } from '../yaml/view';

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
  return engine && map ? readSettings({ doc, engine, lines: reading.lines(), flag: (k) => KEYS[k] }, map) : [];
}
