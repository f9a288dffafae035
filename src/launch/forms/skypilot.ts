/** SkyPilot tasks: `setup` and `run` are scripts, `envs` their variables, `resources` the machine. Fields as of 0.10. */
import { isMap, isScalar, type Node } from 'yaml';
import type { HardwareHint } from '../launch';
import { readScript } from '../shell/script';
import { type Mapped, unit, unknown } from '../text/mapped';
import type { Variable } from '../words/variable';
import type { YamlDocument } from '../yaml/document';
import { saysNull } from '../yaml/scalar';
import { type Entry, entries, get, items, nodeRange, scalarAt, textAt } from '../yaml/view';
import type { YamlForm } from './form';
import { acceleratorOf, countOf, namedGpu, times } from './machine';

const BESIDE_RUN = ['resources', 'setup', 'envs', 'secrets', 'service', 'num_nodes', 'file_mounts', 'workdir'];

export const skypilot: YamlForm = {
  kind: 'yaml',
  form: 'skypilot',
  names: /(?:^|[\\/])[\w.-]*\.sky\.ya?ml$/i,
  recognises: (keys, reading) =>
    reading.input.form === 'skypilot' ||
    (keys.has('run') && BESIDE_RUN.some((k) => keys.has(k))) ||
    (keys.has('setup') && keys.has('resources') && (keys.has('pool') || keys.has('envs'))),
  read: (doc, reading) => {
    const machine = machineOf(doc);
    const nodes = countOf(scalarAt(doc, get(doc, doc.root, 'num_nodes')));
    const hardware = times(machine, nodes?.value);
    const own = [
      ...ownVariable('SKYPILOT_NUM_GPUS_PER_NODE', machine.count),
      ...ownVariable('SKYPILOT_NUM_NODES', nodes),
    ];
    const environment = [...variablesOf(doc, 'envs'), ...variablesOf(doc, 'secrets'), ...own];
    const title = textAt(doc, doc.root, 'name') ?? reading.input.name.replace(/^.*[\\/]/, '');
    for (const key of ['setup', 'run']) {
      const script = scalarAt(doc, get(doc, doc.root, key));
      if (script) {
        readScript(reading, { kind: 'script', environment, hardware, script }, { form: 'skypilot', title });
      }
    }
  },
};

const variablesOf = (doc: YamlDocument, key: string): readonly Variable[] =>
  entries(doc, get(doc, doc.root, key)).map((e) => ({ name: e.key, value: textOf(doc, e) }));

/** A variable without a text must be given when the task is started. */
function textOf(doc: YamlDocument, e: Entry): Mapped {
  const text = isScalar(e.value) ? scalarAt(doc, e.value) : undefined;
  return text && !saysNull(text)
    ? text
    : unknown(e.key, nodeRange(doc, e.keyNode), `${e.key} is given when the task starts`);
}

/** What SkyPilot sets itself, as far as the file says. */
const ownVariable = (name: string, count: HardwareHint['count']): readonly Variable[] =>
  count ? [{ name, value: unit(String(count.value), count.range) }] : [];

function machineOf(doc: YamlDocument): HardwareHint {
  const resources = get(doc, doc.root, 'resources');
  const choices = ['any_of', 'ordered'].flatMap((k) => items(doc, get(doc, resources, k)));
  const all = [resources, ...choices].map((r) => machineIn(doc, r)).filter((h) => h.gpu || h.count);
  const [only] = all;
  return only && all.length === 1 ? only : {};
}

/** `H100:8`, `{H100: 8}`; several that would do are no hint. */
function machineIn(doc: YamlDocument, resources: Node | null): HardwareHint {
  const node = get(doc, resources, 'accelerators');
  const type = namedGpu(scalarAt(doc, get(doc, resources, 'instance_type')));
  if (isScalar(node)) {
    return acceleratorOf(scalarAt(doc, node));
  }
  const listed = isMap(node) ? entries(doc, node) : [];
  const [only, ...more] = listed.map(({ key, keyNode, value }): HardwareHint => {
    const hint = acceleratorOf(unit(key, nodeRange(doc, keyNode)));
    const count = countOf(scalarAt(doc, value));
    return count ? { ...hint, count } : hint;
  });
  if (only && (more.length === 0 || !type)) {
    return more.length === 0 ? only : sameCount([only, ...more]);
  }
  const [single, ...others] = items(doc, node);
  const text = single && others.length === 0 ? scalarAt(doc, single) : undefined;
  return text ? acceleratorOf(text) : type ? { gpu: type } : {};
}

/** Of cards that would all do, as many of each. */
function sameCount([first, ...others]: readonly HardwareHint[]): HardwareHint {
  const same = others.every((h) => h.count?.value === first?.count?.value);
  return first?.count && same ? { count: first.count } : {};
}
