/** A YAML file of options, as `vllm serve --config FILE` reads it: told from any other YAML by its keys. */
import { isMap } from 'yaml';
import { isOptionKey, roleOf } from '../assemble';
import { readConfig } from '../config-file';
import type { LaunchEngine } from '../engines';
import type { Insertion, TextRange } from '../launch';
import type { YamlDocument } from '../yaml/document';
import { endOfItem, eolOf } from '../yaml/insertion';
import { scalarText } from '../yaml/scalar';
import { entries, nodeRange } from '../yaml/view';
import type { YamlForm } from './form';

/** Keys that also stand in trainers' and other tools' files do not make a file this engine's. */
const isTelling = (engine: LaunchEngine, key: string): boolean => {
  const name = key.replaceAll('_', '-');
  const spec = engine.options.find((o) => o.name === name || o.aliases?.includes(name));
  return spec?.effect !== undefined && name.split('-').length >= 3;
};

function engineOf(keys: ReadonlySet<string>, engines: readonly LaunchEngine[]): LaunchEngine | undefined {
  const all = [...keys];
  const scores = engines
    .filter((e) => e.start.configOption !== undefined && all.some((k) => isTelling(e, k)))
    .map((engine) => ({ engine, known: all.filter((k) => isOptionKey(engine, k)).length }))
    .filter((s) => s.known >= 0.6 * all.length)
    .sort((a, b) => b.known - a.known);
  return scores[0]?.engine;
}

const FOREIGN = ['services', 'apiVersion', 'kind', 'jobs', 'steps', 'defaults', 'datasets', 'stages'];

export const vllmConfig: YamlForm = {
  kind: 'yaml',
  form: 'vllm-config',
  recognises: (keys, reading) =>
    reading.input.form === 'vllm-config' ||
    (!FOREIGN.some((k) => keys.has(k)) && engineOf(keys, reading.engines) !== undefined),
  read: (doc, reading) => {
    const all = entries(doc, doc.root);
    const given = reading.engines.find((e) => e.id === 'vllm' && reading.input.form === 'vllm-config');
    const engine = engineOf(new Set(all.map((e) => e.key)), reading.engines) ?? given;
    const first = all[0];
    if (!engine || !isMap(doc.root) || !first) {
      return;
    }
    const range = nodeRange(doc, doc.root);
    const head = scalarText(doc, first.keyNode).extent;
    const { options, model } = readConfig(doc, engine, reading.lines());
    reading.found({
      file: reading.input.name,
      form: 'vllm-config',
      engine: engine.id,
      role: roleOf(options),
      title: reading.input.name.replace(/^.*[\\/]/, ''),
      range,
      head,
      options,
      model,
      environment: new Map(),
      hardware: {},
      directives: [],
      insertion: insertionOf(doc, head, range.end, doc.root.flow === true),
    });
  },
};

function insertionOf(doc: YamlDocument, first: TextRange, end: number, flow: boolean): Insertion | undefined {
  const lineStart = doc.text.lastIndexOf('\n', first.start - 1) + 1;
  const indent = doc.text.slice(lineStart, first.start).replace('\uFEFF', '');
  if (flow || !/^ *$/.test(indent)) {
    return undefined;
  }
  const at = endOfItem(doc.text, end);
  const layers = [{ kind: 'yaml-typed' as const, range: { start: at, end: at } }];
  return { at, text: `${eolOf(doc.text)}${indent}{name}: {value}`, layers };
}
