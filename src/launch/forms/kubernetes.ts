/** Kubernetes: every container of every pod template, in whatever kind of object it stands. */
import { isMap, isPair, isScalar, isSeq, type Node, type YAMLMap } from 'yaml';
import { assemble } from '../assemble';
import type { HardwareHint } from '../launch';
import type { Reading } from '../reading';
import { readScript } from '../shell/script';
import { type Mapped, rangeOf, unresolvedIn } from '../text/mapped';
import { expandKubernetes, type Lookup } from '../words/expand';
import { readImage } from '../words/image';
import { joined } from '../words/joined';
import { type Found, nearer, type Surroundings, startInImage, surrounded } from '../words/start';
import type { Variable } from '../words/variable';
import type { YamlDocument } from '../yaml/document';
import { listInsertion } from '../yaml/insertion';
import { entries, entry, get, items, nodeRange, scalarAt, textAt } from '../yaml/view';
import type { YamlForm } from './form';

export const kubernetes: YamlForm = {
  kind: 'yaml',
  form: 'kubernetes',
  recognises: (keys, reading) => reading.input.form === 'kubernetes' || (keys.has('apiVersion') && keys.has('kind')),
  read: (doc, reading) => {
    for (const pod of podSpecs(doc.root, 0)) {
      for (const container of items(doc, entry(doc, pod, 'containers')?.value)) {
        readContainer({ doc, reading, pod }, container);
      }
    }
  },
};

const MAX_DEPTH = 40;

/** Maps with a list of containers. Aliases are not walked: what they stand for is walked where it stands. */
function* podSpecs(node: unknown, depth: number): Generator<YAMLMap> {
  if (depth > MAX_DEPTH) {
    return;
  }
  if (isMap(node)) {
    if (node.items.some((p) => isScalar(p.key) && p.key.value === 'containers')) {
      yield node;
    }
    for (const pair of node.items) {
      yield* podSpecs(isPair(pair) ? pair.value : undefined, depth + 1);
    }
  } else if (isSeq(node)) {
    for (const item of node.items) {
      yield* podSpecs(item, depth + 1);
    }
  }
}

interface Context {
  readonly doc: YamlDocument;
  readonly reading: Reading;
  readonly pod: YAMLMap;
}

function readContainer(c: Context, container: Node | null): void {
  const image = scalarAt(c.doc, get(c.doc, container, 'image'));
  const known = image && readImage(image, c.reading.engines);
  const commandNode = get(c.doc, container, 'command');
  const argsNode = get(c.doc, container, 'args');
  if (!container || (!known && !commandNode && !argsNode)) {
    return;
  }
  const environment = environmentOf(c, container);
  const lookup = lookupIn(environment);
  const command = commandNode ? wordsOf(c, commandNode, lookup) : undefined;
  const args = wordsOf(c, argsNode, lookup);
  const around: Surroundings = { environment: environment.known, hardware: {}, image: known };
  const found = startInImage(command, args, c.reading.engines, around, image);
  if (found) {
    const list = args.length > 0 || !command ? argsNode : commandNode;
    place(c, container, surrounded(found, found.environment, nearer(hardwareOf(c, container), found.hardware)), list);
  }
}

function place(c: Context, container: Node, found: Found, list: Node | null): void {
  const { doc, reading } = c;
  const title = textAt(doc, container, 'name') ?? textAt(doc, doc.root, 'metadata', 'name') ?? 'container';
  const range = nodeRange(doc, container);
  if (found.kind === 'script') {
    readScript(reading, found, { form: 'kubernetes', title, range });
    return;
  }
  const insertion = listInsertion(doc, list, 'kubernetes');
  reading.found(assemble(reading, { form: 'kubernetes', title, range, start: found, shell: false, insertion }));
}

function wordsOf(c: Context, node: Node | null, lookup: Lookup): readonly Mapped[] {
  const all = isSeq(node) ? items(c.doc, node) : node ? [node] : [];
  return all.flatMap((i) => {
    const text = scalarAt(c.doc, i);
    return text ? joined(expandKubernetes(text, lookup)) : [];
  });
}

interface Environment {
  readonly known: readonly Variable[];
  /** Set from a secret, a config map, a field. */
  readonly elsewhere: ReadonlyMap<string, string>;
}

function environmentOf(c: Context, container: Node): Environment {
  const known: Variable[] = [];
  const elsewhere = new Map<string, string>();
  const soFar: Lookup = (name) => lookupIn({ known, elsewhere })(name);
  for (const variable of items(c.doc, get(c.doc, container, 'env'))) {
    const name = textAt(c.doc, variable, 'name');
    const value = scalarAt(c.doc, get(c.doc, variable, 'value'));
    const from = get(c.doc, variable, 'valueFrom');
    if (name !== undefined && value) {
      known.push({ name, value: expandKubernetes(value, soFar) });
    } else if (name !== undefined && from) {
      elsewhere.set(name, `${name} comes from ${sourceName(c.doc, from)}`);
    }
  }
  return { known, elsewhere };
}

function sourceName(doc: YamlDocument, from: Node): string {
  const key = entries(doc, from)[0]?.key ?? '';
  const names: Readonly<Record<string, string>> = { secretKeyRef: 'a secret', configMapKeyRef: 'a config map' };
  return names[key] ?? 'the cluster';
}

function lookupIn(environment: Environment): Lookup {
  return (name) => {
    const variable = environment.known.findLast((v) => v.name === name);
    if (!variable) {
      const unresolved = environment.elsewhere.get(name);
      return unresolved === undefined ? undefined : { unresolved };
    }
    const unresolved = unresolvedIn(variable.value);
    return unresolved === undefined ? variable.value.text : { unresolved };
  };
}

const GPU_RESOURCE = /^(?:nvidia\.com|amd\.com|gpu\.intel\.com|habana\.ai)\/(?:gpu|i915|xe|gaudi)(?:\.shared)?$/;

/** Labels that name a card: GPU feature discovery, and those of cloud node pools. */
const GPU_LABELS = [
  'nvidia.com/gpu.product',
  'cloud.google.com/gke-accelerator',
  'gpu.nvidia.com/class',
  'gpu.nvidia.com/model',
  'amd.com/gpu.product-name',
  'k8s.amazonaws.com/accelerator',
  'eks.amazonaws.com/instance-gpu-name',
  'karpenter.k8s.aws/instance-gpu-name',
];

function hardwareOf(c: Context, container: Node): HardwareHint {
  return { gpu: gpuLabel(c), count: gpuLimit(c, container) };
}

function gpuLimit(c: Context, container: Node): HardwareHint['count'] {
  const all = ['limits', 'requests'].flatMap((k) => entries(c.doc, get(c.doc, container, 'resources', k)));
  const found = all.find((e) => GPU_RESOURCE.test(e.key));
  const text = found && scalarAt(c.doc, found.value);
  return text && /^\d+$/.test(text.text) ? { value: Number(text.text), range: rangeOf(text) } : undefined;
}

function gpuLabel(c: Context): HardwareHint['gpu'] {
  const selector = entries(c.doc, get(c.doc, c.pod, 'nodeSelector'));
  const label = selector.find((e) => GPU_LABELS.includes(e.key));
  const text = label ? scalarAt(c.doc, label.value) : affinityValue(c);
  return text && { text: text.text, range: rangeOf(text) };
}

/** The only value of a required node affinity on such a label. */
function affinityValue(c: Context): Mapped | undefined {
  const required = get(c.doc, c.pod, 'affinity', 'nodeAffinity', 'requiredDuringSchedulingIgnoredDuringExecution');
  for (const term of items(c.doc, get(c.doc, required, 'nodeSelectorTerms'))) {
    for (const expression of items(c.doc, get(c.doc, term, 'matchExpressions'))) {
      const values = items(c.doc, get(c.doc, expression, 'values'));
      if (GPU_LABELS.includes(textAt(c.doc, expression, 'key') ?? '') && values.length === 1) {
        return scalarAt(c.doc, values[0]);
      }
    }
  }
  return undefined;
}
