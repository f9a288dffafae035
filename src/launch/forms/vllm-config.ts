/**
 * A YAML file of options, as `vllm serve --config FILE`, SGLang's `--config` and `trtllm-serve --config` read it, and
 * Triton's model.json for vLLM: told from any other YAML by its keys.
 */
import { isMap } from 'yaml';
import { hasSection } from '../../core/engines/option-find';
import { isOptionKey, roleOf } from '../assemble';
import { readConfig } from '../config-file';
import type { LaunchEngine } from '../engines';
import type { Form, Insertion } from '../launch';
import type { Reading } from '../reading';
import { isTellingSpec } from '../words/telling';
import type { YamlDocument } from '../yaml/document';
import { eolOf, keyInsertion } from '../yaml/insertion';
import { scalarText } from '../yaml/scalar';
import { entries, nodeRange } from '../yaml/view';
import type { YamlForm } from './form';

/** Keys that also stand in trainers' and other tools' files do not make a file this engine's. */
const isTelling = (engine: LaunchEngine, key: string): boolean => {
  const name = key.replaceAll('_', '-');
  const same = (n: string) => n.replaceAll('_', '-') === name;
  const spec = engine.options.find((o) => same(o.name) || o.aliases?.some(same));
  return (spec !== undefined && isTellingSpec(spec)) || (hasSection(engine.options, key) && SECTIONS.has(key));
};

const SECTIONS = new Set(['kv_cache_config']);

function engineOf(keys: ReadonlySet<string>, engines: readonly LaunchEngine[]): LaunchEngine | undefined {
  const all = [...keys];
  const known = (e: LaunchEngine, k: string) => isOptionKey(e, k) || hasSection(e.options, k);
  const scores = engines
    .filter((e) => e.start.configOption !== undefined && (all.some((k) => isTelling(e, k)) || servesModel(e, all)))
    .map((engine) => ({ engine, known: all.filter((k) => known(engine, k)).length }))
    .filter((s) => s.known >= 0.6 * all.length)
    .sort((a, b) => b.known - a.known);
  return scores[0]?.engine;
}

/** Nothing but options of the engine, its model and the name clients know it by among them. */
const servesModel = (engine: LaunchEngine, keys: readonly string[]): boolean => {
  const names = keys.map((k) => k.replaceAll('_', '-'));
  return (
    ['served-model-name', engine.start.modelOption].every((n) => names.includes(n)) &&
    keys.length >= 4 &&
    keys.every((k) => isOptionKey(engine, k))
  );
};

const FOREIGN = ['services', 'apiVersion', 'kind', 'jobs', 'steps', 'defaults', 'datasets', 'stages'];

const FORMS: Readonly<Record<string, Form>> = {
  vllm: 'vllm-config',
  sglang: 'sglang-config',
  'tensorrt-llm': 'trtllm-config',
};

/** The engine of a form that the caller names. */
const givenEngine = (reading: Reading): LaunchEngine | undefined =>
  reading.engines.find((e) => reading.input.form !== undefined && FORMS[e.id] === reading.input.form);

const isModelJson = (name: string): boolean => /(?:^|[\\/])model\.json$/.test(name);

export const vllmConfig: YamlForm = {
  kind: 'yaml',
  form: 'vllm-config',
  recognises: (keys, reading) =>
    givenEngine(reading) !== undefined ||
    (!FOREIGN.some((k) => keys.has(k)) && engineOf(keys, reading.engines) !== undefined),
  read: (doc, reading) => {
    const all = entries(doc, doc.root);
    const engine = givenEngine(reading) ?? engineOf(new Set(all.map((e) => e.key)), reading.engines);
    const first = all[0];
    if (!engine || !isMap(doc.root) || !first) {
      return;
    }
    const { options, model } = readConfig(doc, engine, reading.lines());
    reading.found({
      file: reading.input.name,
      form: isModelJson(reading.input.name) ? 'triton' : (FORMS[engine.id] ?? 'vllm-config'),
      engine: engine.id,
      role: roleOf(options),
      title: reading.input.name.replace(/^.*[\\/]/, ''),
      range: nodeRange(doc, doc.root),
      head: scalarText(doc, first.keyNode).extent,
      options,
      model,
      environment: new Map(),
      hardware: {},
      directives: [],
      insertion: /\.json$/i.test(reading.input.name) ? jsonInsertion(doc) : yamlInsertion(doc, engine),
    });
  },
};

/** Another field after the last one, in the spelling that keyword arguments have. */
function jsonInsertion(doc: YamlDocument): Insertion | undefined {
  const map = isMap(doc.root) && doc.root.flow ? doc.root : undefined;
  const last = map?.items.at(-1);
  const value = last?.value as { range?: readonly number[] } | null | undefined;
  const key = last?.key as { range?: readonly number[] } | undefined;
  if (!value?.range || !key?.range) {
    return undefined;
  }
  const at = (value.range[1] as number) + doc.base;
  const keyAt = (key.range[0] as number) + doc.base;
  const lead = /(?:\r?\n)?[ \t]*$/.exec(doc.text.slice(0, keyAt))?.[0] ?? ' ';
  return {
    at,
    text: `,${lead}"{name}": {value}`,
    layers: [{ kind: 'json', range: { start: at, end: at } }],
    spelling: 'snake',
  };
}

/** Keys of a section go into it; what has a name on the command line alone is called as in the file. */
function yamlInsertion(doc: YamlDocument, engine: LaunchEngine): Insertion | undefined {
  const insertion = keyInsertion(doc, doc.root);
  const inner = entries(doc, doc.root).filter((e) => isMap(e.value) && hasSection(engine.options, e.key));
  if (!insertion || !engine.options.some((o) => SECTIONED.test(o.name))) {
    return insertion;
  }
  const sections = inner.flatMap((e) => {
    const place = keyInsertion(doc, e.value);
    return place ? [[e.key, place] as const] : [];
  });
  const names = engine.options.flatMap((o) => {
    const alias = SECTIONED.test(o.name) ? undefined : o.aliases?.find((a) => SECTIONED.test(a));
    return alias === undefined ? [] : [[o.name, alias] as const];
  });
  return {
    ...insertion,
    sections: Object.fromEntries(sections),
    newSection: insertion.text.includes(': "')
      ? ', {section}: {{name}: "{value}"}'
      : insertion.text.replace('{name}', `{section}:${eolOf(doc.text)}  {name}`),
    names: Object.fromEntries(names),
  };
}

const SECTIONED = /^kv_cache_config\./;
