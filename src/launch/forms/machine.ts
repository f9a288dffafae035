/** What Kubernetes and its kin say of the machine: limits, labels of nodes, instance types. */
import type { YAMLMap } from 'yaml';
import type { HardwareHint } from '../launch';
import { type Mapped, part, rangeOf, unresolvedIn } from '../text/mapped';
import type { YamlDocument } from '../yaml/document';
import { nearest, type Site } from '../yaml/sites';
import { entries, get, items, scalarAt, textAt } from '../yaml/view';

/** Extended resources of device plugins; a bare `gpu` is what operators take for them. */
const GPU_RESOURCE =
  /^(?:(?:nvidia|amd|gpu\.intel|habana)\.(?:com|ai)\/(?:gpu|i915|xe|gaudi|pgpu|mig-[\w.]+)(?:\.shared)?|gpu)$/;

/** Labels that name a card or a machine, the exact ones first: GPU feature discovery, and those of cloud node pools. */
const GPU_LABELS = [
  'nvidia.com/gpu.product',
  'amd.com/gpu.product-name',
  'cloud.google.com/gke-accelerator',
  'run.googleapis.com/accelerator',
  'gpu.nvidia.com/class',
  'gpu.nvidia.com/model',
  'k8s.amazonaws.com/accelerator',
  'eks.amazonaws.com/instance-gpu-name',
  'karpenter.k8s.aws/instance-gpu-name',
  'node.kubernetes.io/instance-type',
  'beta.kubernetes.io/instance-type',
];

/** `fill` knows what a template prints. */
export function machineOf(doc: YamlDocument, site: Site, fill?: (m: Mapped) => Mapped): HardwareHint {
  const gpu = nearest(site, (map) => labelIn(doc, map));
  const count = nearest(site, (map) => limitIn(doc, map, fill));
  return { ...(gpu ? { gpu } : {}), ...(count ? { count } : {}) };
}

/** `nvidia.com/gpu: 2` under `resources`; limits count, requests equal them. */
export function limitIn(doc: YamlDocument, map: YAMLMap, fill?: (m: Mapped) => Mapped): HardwareHint['count'] {
  const resources = get(doc, map, 'resources');
  const all = [get(doc, resources, 'limits'), get(doc, resources, 'requests'), resources].flatMap((n) =>
    n ? entries(doc, n) : [],
  );
  const found = all.find((e) => GPU_RESOURCE.test(e.key));
  const text = found && scalarAt(doc, found.value);
  return countOf(text && fill ? fill(text) : text);
}

export function countOf(text: Mapped | undefined): HardwareHint['count'] {
  return text && /^[1-9]\d{0,6}$/.test(text.text) && unresolvedIn(text) === undefined
    ? { value: Number(text.text), range: rangeOf(text) }
    : undefined;
}

export function namedGpu(text: Mapped | undefined): HardwareHint['gpu'] {
  return text && text.text.trim() !== '' && unresolvedIn(text) === undefined
    ? { text: text.text, range: rangeOf(text) }
    : undefined;
}

/** `nodeSelector`, or the only value of a required node affinity. */
function labelIn(doc: YamlDocument, map: YAMLMap): HardwareHint['gpu'] {
  const selector = get(doc, map, 'nodeSelector');
  const labels = selector ? entries(doc, selector) : [];
  const required = get(doc, map, 'affinity', 'nodeAffinity', 'requiredDuringSchedulingIgnoredDuringExecution');
  const terms = [
    ...items(doc, get(doc, required, 'nodeSelectorTerms')),
    ...items(doc, get(doc, map, 'nodeSelectorTerms')),
  ];
  const expressions = terms.flatMap((t) => items(doc, get(doc, t, 'matchExpressions')));
  for (const label of GPU_LABELS) {
    const entry = labels.find((e) => e.key === label);
    const values = expressions
      .filter((e) => textAt(doc, e, 'key') === label && textAt(doc, e, 'operator') !== 'NotIn')
      .flatMap((e) => items(doc, get(doc, e, 'values')));
    const listed = textAt(doc, map, 'acceleratorTypes', 'labelKey') === label ? 'acceleratorTypes' : undefined;
    const types = listed ? items(doc, get(doc, map, listed, 'labelValues')) : [];
    values.push(...types);
    const named = namedGpu(
      entry ? scalarAt(doc, entry.value) : values.length === 1 ? scalarAt(doc, values[0]) : undefined,
    );
    if (named) {
      return named;
    }
  }
  return undefined;
}

/** `H100:8`, `A100-80GB:4`, `nvidia-gpu-l4:1`: a card and how many; the number may be missing. */
export function acceleratorOf(text: Mapped | undefined): HardwareHint {
  if (!text || unresolvedIn(text) !== undefined) {
    return {};
  }
  const pattern = /^((?:nvidia|amd)-gpu-)?([\w.+ -]+?)(?::(\d+)(?:\.0)?)?$/;
  const [, prefix = '', name = '', number] = pattern.exec(text.text) ?? [];
  if (name === '' || /^(?:cpu|none)$/i.test(name)) {
    return {};
  }
  const gpu = namedGpu(part(text, prefix.length, prefix.length + name.length));
  const from = text.text.lastIndexOf(':') + 1;
  const count = number === undefined ? undefined : countOf(part(text, from, from + number.length));
  return { ...(gpu ? { gpu } : {}), ...(count ? { count } : {}) };
}

/** As many machines, each with what the hint says. */
export function times(hint: HardwareHint, nodes: number | undefined): HardwareHint {
  if (nodes === undefined || !(nodes > 1)) {
    return hint;
  }
  return hint.count ? { ...hint, count: { ...hint.count, value: hint.count.value * nodes } } : { ...hint, nodes };
}

export function numberAt(doc: YamlDocument, node: unknown, ...path: readonly string[]): number | undefined {
  return countOf(scalarAt(doc, get(doc, node, ...path)))?.value;
}
