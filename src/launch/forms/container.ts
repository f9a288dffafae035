/** A container as Kubernetes and its kin describe it: image, command, args, env. */
import { isMap, isScalar, isSeq, type Node, type YAMLMap } from 'yaml';
import { assemble } from '../assemble';
import type { LaunchEngine } from '../engines';
import type { Form, HardwareHint, Insertion, Launch, LaunchOption } from '../launch';
import type { Reading } from '../reading';
import { readScript } from '../shell/script';
import { asMaybe, type Mapped, rangeOf, unresolvedIn } from '../text/mapped';
import { unknownIn } from '../text/placeholder';
import { expandKubernetes, type Lookup } from '../words/expand';
import { startInImage } from '../words/find-start';
import { type Image, readImage } from '../words/image';
import { VARIABLE } from '../words/insertion';
import { joined } from '../words/joined';
import { splitWords } from '../words/split';
import { type Found, nearer, type Start, type Surroundings, started, surrounded } from '../words/start';
import type { Variable } from '../words/variable';
import type { YamlDocument } from '../yaml/document';
import { argsInsertion, listInsertion, variableItemInsertion } from '../yaml/insertion';
import { conditionAt } from '../yaml/template';
import { entries, get, items, nodeRange, scalarAt, textAt } from '../yaml/view';
import { engineOfFlags } from './engine-names';

/** Where a container stands and what its surroundings add. */
export interface Container {
  readonly doc: YamlDocument;
  readonly reading: Reading;
  readonly form: Form;
  readonly node: YAMLMap;
  readonly title: string;
  readonly hardware: HardwareHint;
  /** Texts of `configMapKeyRef` and `envFrom`, where the file has the ConfigMap. */
  readonly config?: ConfigLookup;
  /** Fills in what a workflow does before the container starts. */
  readonly fill?: (written: Mapped) => Mapped;
  /** Whether what stands under a template's condition is there; undefined where that cannot be told. */
  readonly holds?: (action: string) => boolean | undefined;
  /** What the platform sets. */
  readonly variables?: readonly Variable[];
  /** What runs where neither image nor command says so. */
  readonly assumed?: { readonly engine: LaunchEngine; readonly head: Mapped; readonly positionalModel?: boolean };
  /** Words before the container's own: those of the runtime it extends. */
  readonly base?: readonly Mapped[];
  readonly model?: Launch['model'];
  readonly role?: Launch['role'];
  readonly options?: readonly LaunchOption[];
  readonly image?: Mapped;
  /** Key of the words in the container: `args` unless said. */
  readonly argsKey?: string;
  /** The words, where they stand elsewhere; null for none. */
  readonly words?: Node | null;
  /** Flags of a program around the engine that takes the engine's as well, with dashes between words. */
  readonly foreign?: ReadonlySet<string>;
  /** Where an option is added, if not among the words; null where there is no place. */
  readonly insertion?: Insertion | null;
  /** All of the launch, where more than the container belongs to it. */
  readonly whole?: Node;
}

export interface ConfigLookup {
  /** Entries of a ConfigMap of this file. */
  entries(name: string): readonly { readonly key: string; readonly value: Mapped }[] | undefined;
}

/** Where a container is described as Docker does: `entrypoint` is the command, and `command` are arguments given beside it. */
export function asDocker(node: YAMLMap): YAMLMap {
  const other = node.clone() as YAMLMap;
  other.delete('command');
  if (other.has('entrypoint')) {
    other.set('command', other.get('entrypoint', true));
  }
  return other;
}

/** Nothing where it starts no engine. */
export function readContainer(c: Container): boolean {
  const image = c.image ?? filledText(c, get(c.doc, c.node, 'image'));
  const known = image && readImage(image, c.reading.engines);
  const commandNode = get(c.doc, c.node, 'command');
  const argsNode = c.words === undefined ? get(c.doc, c.node, c.argsKey ?? 'args') : c.words;
  if (!known && !commandNode && !argsNode && !c.assumed && !c.base) {
    return false;
  }
  const environment = environmentOf(c);
  const lookup = lookupIn(environment);
  const written = commandNode ? wordsOf(c, commandNode, lookup) : undefined;
  // Where a container is described as Docker does, its command is the arguments of the image's entry point.
  const isArguments = written?.[0]?.text.startsWith('-') === true;
  const command = isArguments ? undefined : written;
  const own = [
    ...(c.base ?? []),
    ...(isArguments ? written : []),
    ...withoutForeign(wordsOf(c, argsNode, lookup), c.foreign),
  ];
  const args = command ? own : [...own, ...wordsInEnvironment(environment)];
  const around: Surroundings = { environment: environment.known, hardware: {}, image: known };
  const found = startOf(c, command, args, around, image);
  if (!found) {
    return false;
  }
  const list = argsNode ?? commandNode;
  const hardware = nearer(c.hardware, found.hardware);
  place(c, surrounded(found, found.environment, hardware), list, image);
  return true;
}

function startOf(
  c: Container,
  command: readonly Mapped[] | undefined,
  args: readonly Mapped[],
  around: Surroundings,
  image: Mapped | undefined,
): Found | undefined {
  const assumed = c.assumed ?? templated(c, image, args);
  if (assumed && !command) {
    const found = startInImage(undefined, args, c.reading.engines, around, undefined);
    const own: Image | undefined = around.image?.engine === assumed.engine ? around.image : undefined;
    return (
      found ??
      started({ ...around, image: own }, assumed.engine, rangeOf(assumed.head), args, assumed.positionalModel ?? false)
    );
  }
  return startInImage(command, args, c.reading.engines, around, image);
}

/** An image that only a template names, or none where a patch gives a container other words: its flags tell the engine. */
function templated(c: Container, image: Mapped | undefined, args: readonly Mapped[]): Container['assumed'] {
  const isUnknown = image === undefined || unknownIn(image) !== undefined;
  const head = image ?? scalarAt(c.doc, get(c.doc, c.node, 'name'));
  const engine = head && isUnknown ? engineOfFlags(c.reading, args) : undefined;
  return head && engine ? { engine, head } : undefined;
}

function place(c: Container, found: Found, list: Node | null, image: Mapped | undefined): void {
  const range = nodeRange(c.doc, c.whole ?? c.node);
  if (found.kind === 'script') {
    readScript(c.reading, found, { form: c.form, title: c.title, range, model: c.model, role: c.role });
    return;
  }
  const { reading, form, title, options, model, role } = c;
  const insertion = c.insertion === undefined ? insertionOf(c, found, list, image) : (c.insertion ?? undefined);
  reading.found(
    assemble(reading, { form, title, range, start: found, shell: isScalar(list), insertion, options, model, role }),
  );
}

function insertionOf(c: Container, start: Start, list: Node | null, image: Mapped | undefined): Insertion | undefined {
  const variables = get(c.doc, c.node, 'env');
  if (start.engine.start.byEnvironment || (!list && setsOptions(start))) {
    const place = variableItemInsertion(c.doc, variables);
    return place && { ...place, names: variableNames(start.engine), only: VARIABLE };
  }
  if (list) {
    return isScalar(list) ? undefined : listInsertion(c.doc, list, 'kubernetes');
  }
  const beside = image?.extent ?? c.assumed?.head.extent;
  return beside && argsInsertion(c.doc, c.node, c.argsKey ?? 'args', beside, 'kubernetes');
}

/** The container's options are variables: another one is written as they are. */
export const setsOptions = ({ engine, environment }: Start): boolean =>
  environment.some((v) => engine.options.some((o) => o.env === v.name));

export const variableNames = (engine: LaunchEngine): Readonly<Record<string, string>> =>
  Object.fromEntries(engine.options.flatMap((o) => (o.env === undefined ? [] : [[o.name, o.env]])));

/** Items of a list as they stand; a string where a list is expected is split. */
function wordsOf(c: Container, node: Node | null, lookup: Lookup): readonly Mapped[] {
  const textOf = (n: Node | null) => filledText(c, n);
  if (!isSeq(node)) {
    const text = textOf(node);
    return text ? splitWords(expandKubernetes(text, lookup)) : [];
  }
  const from = nodeRange(c.doc, node).start;
  return items(c.doc, node).flatMap((item) => {
    const text = textOf(item);
    const words = text ? joined(expandKubernetes(text, lookup)) : [];
    const condition = c.doc.template && text && conditionAt(c.doc.template, from, text.extent.start);
    const holds = condition && c.holds?.(condition.action);
    return condition && holds === undefined
      ? words.map((w) => asMaybe(w, condition.reason))
      : holds === false
        ? []
        : words;
  });
}

function filledText({ doc, fill }: Container, node: Node | null): Mapped | undefined {
  const text = scalarAt(doc, node);
  return text && fill ? fill(text) : text;
}

/** Without those flags and their values. */
function withoutForeign(words: readonly Mapped[], foreign: ReadonlySet<string> | undefined): readonly Mapped[] {
  const flags = words.map((w) => /^--([\w-]+)(=)?/.exec(w.text));
  const isForeign = (i: number) => foreign?.has(flags[i]?.[1]?.replaceAll('_', '-') ?? '') === true;
  const isValue = (i: number) => !flags[i] && i > 0 && isForeign(i - 1) && flags[i - 1]?.[2] === undefined;
  return foreign ? words.filter((_, i) => !isForeign(i) && !isValue(i)) : words;
}

interface Environment {
  readonly known: readonly Variable[];
  /** Set from a secret, a config map, a field. */
  readonly elsewhere: ReadonlyMap<string, string>;
}

function environmentOf(c: Container): Environment {
  const known: Variable[] = [...(c.variables ?? []), ...fromConfigMaps(c)];
  const elsewhere = new Map<string, string>();
  const soFar: Lookup = (name) => lookupIn({ known, elsewhere })(name);
  const node = get(c.doc, c.node, 'env');
  for (const e of isMap(node) ? entries(c.doc, node) : []) {
    const value = filledText(c, e.value);
    known.push(...(value ? [{ name: e.key, value: expandKubernetes(value, soFar) }] : []));
  }
  for (const variable of items(c.doc, node)) {
    const name = textAt(c.doc, variable, 'name');
    const value = filledText(c, get(c.doc, variable, 'value'));
    const from = get(c.doc, variable, 'valueFrom');
    const configured = from ? fromKey(c, from) : undefined;
    if (name !== undefined && (value ?? configured)) {
      known.push({ name, value: value ? expandKubernetes(value, soFar) : (configured as Mapped) });
    } else if (name !== undefined && from) {
      elsewhere.set(name, `${name} comes from ${sourceName(c.doc, from)}`);
    }
  }
  return { known, elsewhere };
}

function fromKey(c: Container, from: Node): Mapped | undefined {
  const name = textAt(c.doc, from, 'configMapKeyRef', 'name');
  const key = textAt(c.doc, from, 'configMapKeyRef', 'key');
  return name === undefined ? undefined : c.config?.entries(name)?.find((e) => e.key === key)?.value;
}

function fromConfigMaps(c: Container): readonly Variable[] {
  return items(c.doc, get(c.doc, c.node, 'envFrom')).flatMap((source) => {
    const name = textAt(c.doc, source, 'configMapRef', 'name');
    const prefix = textAt(c.doc, source, 'prefix') ?? '';
    const all = name === undefined ? undefined : c.config?.entries(name);
    return (all ?? []).map((e) => ({ name: prefix + e.key, value: e.value }));
  });
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

/** Variables whose text the entry points of serving charts put at the end of the command. */
const WORD_VARIABLES = /^(?:VLLM_ADDITIONAL_ARGS|VLLM_EXTRA_ARGS|EXTRA_VLLM_ARGS)$/;

const wordsInEnvironment = (environment: Environment): readonly Mapped[] =>
  environment.known.filter((v) => WORD_VARIABLES.test(v.name)).flatMap((v) => splitWords(v.value));

export const environmentAround = (c: Container): readonly Variable[] => environmentOf(c).known;
