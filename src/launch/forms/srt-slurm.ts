/** Recipes of srt-slurm (`srtctl apply -f`): a map of options for each kind of worker, `backend.sglang_config.prefill`. */
import { isMap } from 'yaml';
import { assemble, roleOf } from '../assemble';
import { readSettings } from '../config-file';
import type { HardwareHint, Launch } from '../launch';
import type { Reading } from '../reading';
import { rangeOf } from '../text/mapped';
import { NOTHING, started } from '../words/start';
import type { YamlDocument } from '../yaml/document';
import { keyInsertion } from '../yaml/insertion';
import { scalarText } from '../yaml/scalar';
import { type Entry, entries, get, nodeRange, scalarAt } from '../yaml/view';
import type { YamlForm } from './form';

const SECTIONS: Readonly<Record<string, string>> = {
  sglang_config: 'sglang',
  vllm_config: 'vllm',
  trtllm_config: 'tensorrt-llm',
};

const WORKERS = ['prefill', 'decode', 'aggregated'] as const;

export const srtSlurm: YamlForm = {
  kind: 'yaml',
  form: 'srt-slurm',
  recognises: (keys, reading) =>
    reading.input.form === 'srt-slurm' || (keys.has('backend') && keys.has('resources') && keys.has('model')),
  read: (doc, reading) => {
    for (const section of entries(doc, get(doc, doc.root, 'backend'))) {
      for (const worker of entries(doc, section.value)) {
        readWorker(doc, reading, section.key, worker);
      }
    }
  },
};

function readWorker(doc: YamlDocument, reading: Reading, section: string, worker: Entry): void {
  const engine = reading.engines.find((e) => e.id === SECTIONS[section]);
  const kind = WORKERS.find((w) => w === worker.key);
  if (!engine || !kind || !isMap(worker.value)) {
    return;
  }
  const options = readSettings({ doc, engine, lines: reading.lines() }, worker.value);
  const key = rangeOf(scalarText(doc, worker.keyNode));
  const insertion = keyInsertion(doc, worker.value);
  const launch = assemble(reading, {
    form: 'srt-slurm',
    title: kind,
    range: { start: key.start, end: Math.max(key.end, nodeRange(doc, worker.value).end) },
    start: started({ ...NOTHING, hardware: hardwareOf(doc, kind) }, engine, key, [], false),
    shell: false,
    options,
    ...(insertion ? { insertion } : {}),
  });
  const model = pathOf(doc);
  const role = kind === 'aggregated' ? roleOf(options) : kind;
  reading.found({ ...launch, role, ...(launch.model || !model ? {} : { model }) });
}

function pathOf(doc: YamlDocument): Launch['model'] {
  const path = scalarAt(doc, get(doc, doc.root, 'model', 'path'));
  return path && { text: path.text, range: rangeOf(path) };
}

/** A worker has its share of the nodes of its kind. */
function hardwareOf(doc: YamlDocument, kind: (typeof WORKERS)[number]): HardwareHint {
  const resource = (name: string) => scalarAt(doc, get(doc, doc.root, 'resources', name));
  const gpu = resource('gpu_type');
  const perNode = resource('gpus_per_node');
  const prefix = kind === 'aggregated' ? 'agg' : kind;
  const [gpus, nodes, workers] = [perNode, resource(`${prefix}_nodes`), resource(`${prefix}_workers`)].map((t) =>
    t && /^\d+$/.test(t.text) ? Number(t.text) : undefined,
  );
  const count = gpus && nodes && workers ? (gpus * nodes) / workers : undefined;
  return {
    ...(gpu ? { gpu: { text: gpu.text, range: rangeOf(gpu) } } : {}),
    ...(perNode && count && Number.isInteger(count) ? { count: { value: count, range: rangeOf(perNode) } } : {}),
  };
}
