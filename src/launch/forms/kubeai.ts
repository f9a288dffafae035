/** A model of KubeAI: a resource of its own, or an entry of its chart's catalogue. Fields as of KubeAI 0.23. */
import { isMap, type Node, type YAMLMap } from 'yaml';
import type { Form } from '../launch';
import type { Reading } from '../reading';
import type { YamlDocument } from '../yaml/document';
import { entries, get, scalarAt, textAt } from '../yaml/view';
import { readContainer } from './container';
import { namedEngine } from './engine-names';
import { acceleratorOf } from './machine';
import { modelUri } from './model-uri';

export interface KubeaiPlace {
  readonly doc: YamlDocument;
  readonly reading: Reading;
  readonly form: Form;
  readonly title: string;
  readonly whole?: Node;
}

export function readKubeaiModel({ doc, reading, form, title, whole }: KubeaiPlace, spec: YAMLMap): void {
  const head = scalarAt(doc, get(doc, spec, 'engine'));
  const engine = head && namedEngine(reading, head.text);
  const url = scalarAt(doc, get(doc, spec, 'url'));
  if (head && engine) {
    const hardware = acceleratorOf(scalarAt(doc, get(doc, spec, 'resourceProfile')));
    const model = url ? { model: modelUri(url) } : {};
    readContainer({ doc, reading, form, title, node: spec, whole, hardware, assumed: { engine, head }, ...model });
  }
}

/** The chart starts an entry only where it is switched on. */
export function readKubeaiCatalog(doc: YamlDocument, catalog: Node | null, reading: Reading): void {
  for (const { key, value } of entries(doc, catalog)) {
    if (isMap(value) && /^(?:true|yes|on)$/i.test(textAt(doc, value, 'enabled') ?? '')) {
      readKubeaiModel({ doc, reading, form: 'helm', title: key }, value);
    }
  }
}
