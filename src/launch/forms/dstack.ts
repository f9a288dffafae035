/** dstack services, tasks and environments: `commands` in a container, `resources.gpu`. Fields as of dstack 0.19. */
import { isMap, isScalar, isSeq, type Node, type YAMLMap } from 'yaml';
import type { HardwareHint } from '../launch';
import type { Reading } from '../reading';
import { readScripts } from '../shell/script';
import { type Mapped, part, unit } from '../text/mapped';
import { readImage } from '../words/image';
import { assignedName, type Variable } from '../words/variable';
import type { YamlDocument } from '../yaml/document';
import { entries, get, items, scalarAt, textAt } from '../yaml/view';
import { readContainer } from './container';
import type { YamlForm } from './form';
import { countOf, namedGpu, numberAt, times } from './machine';

export const dstack: YamlForm = {
  kind: 'yaml',
  form: 'dstack',
  names: /(?:^|[\\/])[\w.-]*\.dstack\.ya?ml$/i,
  recognises: (keys, reading) =>
    reading.input.form === 'dstack' ||
    (keys.has('type') && (keys.has('commands') || (keys.has('image') && keys.has('resources')))),
  read: (doc, reading) => {
    const { root } = doc;
    if (!isMap(root) || !/^(?:service|task|dev-environment)$/.test(textAt(doc, root, 'type') ?? '')) {
      return;
    }
    const groups = items(doc, get(doc, root, 'replicas')).filter((g) => get(doc, g, 'commands'));
    for (const group of groups.length > 0 ? groups : [root]) {
      readGroup(doc, reading, root, group);
    }
  },
};

/** A service may have groups of replicas, each with commands and a machine of its own. */
function readGroup(doc: YamlDocument, reading: Reading, root: YAMLMap, group: Node | null): void {
  const machine = gpuOf(doc, get(doc, group, 'resources', 'gpu') ?? get(doc, root, 'resources', 'gpu'));
  const hardware = times(machine, numberAt(doc, root, 'nodes'));
  const title = textAt(doc, root, 'name') ?? reading.input.name.replace(/^.*[\\/]/, '');
  const image = scalarAt(doc, get(doc, root, 'image'));
  const commands = items(doc, get(doc, group, 'commands')).flatMap((c) =>
    isScalar(c) ? (scalarAt(doc, c) ?? []) : [],
  );
  if (commands.length === 0) {
    readContainer({ doc, reading, form: 'dstack', node: root, title, hardware, words: null, insertion: null });
    return;
  }
  const known = image && readImage(image, reading.engines);
  const environment = [...environmentOf(doc), ...ownVariables(machine)];
  const around = { environment, hardware, ...(known ? { image: known } : {}) };
  readScripts(reading, commands, around, { form: 'dstack', title });
}

function environmentOf(doc: YamlDocument): readonly Variable[] {
  const node = get(doc, doc.root, 'env');
  if (isSeq(node)) {
    return items(doc, node).flatMap((i) => {
      const text = scalarAt(doc, i);
      const name = text && assignedName(text.text);
      return text && name !== undefined ? [{ name, value: part(text, name.length + 1, text.text.length) }] : [];
    });
  }
  return entries(doc, node).flatMap((e) => {
    const value = isScalar(e.value) ? scalarAt(doc, e.value) : undefined;
    return value ? [{ name: e.key, value }] : [];
  });
}

const ownVariables = ({ count }: HardwareHint): readonly Variable[] =>
  count
    ? ['DSTACK_GPUS_NUM', 'DSTACK_GPUS_PER_NODE'].map((name) => ({
        name,
        value: unit(String(count.value), count.range),
      }))
    : [];

/** `H100:80GB:8`, `24GB`, `A100:4`, `{name: H100, count: 2}`; ranges and lists of names are no hint. */
function gpuOf(doc: YamlDocument, node: Node | null): HardwareHint {
  if (isMap(node)) {
    const gpu = single(scalarAt(doc, get(doc, node, 'name')));
    const count = countOf(scalarAt(doc, get(doc, node, 'count')));
    return { ...(gpu ? { gpu } : {}), ...(count ? { count } : {}) };
  }
  const text = scalarAt(doc, node);
  let hint: HardwareHint = {};
  for (const found of text?.text.matchAll(/[^:]+/g) ?? []) {
    const piece = part(text as Mapped, found.index, found.index + found[0].length);
    if (/^\d+$/.test(piece.text)) {
      hint = { ...hint, ...given('count', countOf(piece)) };
    } else if (!/^[\d.]+ ?[GMT]B/i.test(piece.text)) {
      hint = { ...hint, ...given('gpu', single(piece)) };
    }
  }
  return hint;
}

const given = <K extends string, T>(key: K, value: T | undefined) => (value === undefined ? {} : { [key]: value });

const single = (text: Mapped | undefined): HardwareHint['gpu'] =>
  text && /^[\w .-]+$/.test(text.text) && !text.text.includes('..') ? namedGpu(text) : undefined;
