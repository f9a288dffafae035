/** A start as its form found it → a launch: options, the file that `--config` names, environment, hardware. */
import { findOption } from '../core/engines/option-find';
import { readOptionValue } from '../core/engines/option-read';
import { readConfig } from './config-file';
import type { LaunchEngine } from './engines';
import type { HardwareHint, Launch, LaunchOption, TextRange } from './launch';
import { linesOf } from './lines';
import { spellingsOf } from './python/calls';
import type { Draft, Reading } from './reading';
import { settingOf } from './setting';
import { layersOf, type Mapped, rangeOf, unresolvedIn } from './text/mapped';
import { unknownIn } from './text/placeholder';
import { type Arguments, type ArgumentWords, readArguments } from './words/arguments';
import { bindingArguments, bindingInsertion, bindingVariables } from './words/binding';
import { overrideInsertion, variableInsertion, wordInsertion } from './words/insertion';
import type { Start } from './words/start';
import { knownTexts, type Variable } from './words/variable';
import { parseYaml } from './yaml/document';

export function assemble(reading: Reading, draft: Draft): Launch {
  const { start } = draft;
  const input: ArgumentWords = {
    words: start.words,
    shell: draft.shell,
    text: reading.text,
    line: (offset) => reading.lines().line(offset),
  };
  const { binding } = start;
  const read = binding
    ? bindingArguments(input, start, binding)
    : readArguments(input, start.engine, start.positionalModel);
  const config = followConfig(reading, read, draft);
  const environment = binding
    ? bindingVariables(input, start, binding, read.options)
    : environmentOptions(reading, start.environment, start.engine, draft.shell);
  const said = [...(draft.options ?? []), ...rolloutOptions(reading, start), ...read.options];
  const options = start.engine.start.configRules?.wins
    ? [...environment, ...said, ...config.options]
    : [...environment, ...config.options, ...said];
  return {
    file: reading.input.name,
    form: draft.form,
    engine: start.engine.id,
    version: start.image?.engine === start.engine ? start.image.version : reading.pinned.get(start.engine.id),
    role: draft.role ?? roleOf(options),
    ...(start.client ? { client: start.client.loads ? 'loads' : 'names' } : {}),
    title: draft.title,
    range: draft.range,
    head: start.head,
    options,
    model: mounted(read.model ?? modelOf(options, start.engine), draft.model) ?? namedBy(start.rollout?.model),
    environment: knownTexts(start.environment),
    hardware: withVisibleDevices(start.hardware, start.environment),
    directives: [],
    ...(binding?.values && { spellings: spellingsOf(binding.values) }),
    insertion: binding
      ? // Words given to its image take the place of the script that starts it.
        start.image?.binding && start.words.length === 0
        ? undefined
        : bindingInsertion(draft.insertion ?? wordInsertion(input, start, read.options), binding, start.engine)
      : start.engine.start.byEnvironment
        ? (variableInsertion(input, start) ?? draft.insertion)
        : (draft.insertion ?? overrideInsertion(start) ?? wordInsertion(input, start, read.options)),
  };
}

const rolloutOptions = (reading: Reading, { engine, rollout }: Start): readonly LaunchOption[] =>
  (rollout?.pairs ?? []).flatMap((pair) => settingOf(reading, engine, pair) ?? []);

function namedBy(model: Mapped | undefined): Launch['model'] {
  const unresolved = model && unresolvedIn(model);
  return model && { text: model.text, range: rangeOf(model), ...(unresolved === undefined ? {} : { unresolved }) };
}

/** Where platforms mount the model that another key names. */
const MOUNTS = /^\/(?:mnt\/models|models?|model-cache|repository)(?:\/|$)/;

const mounted = (said: Launch['model'], named: Launch['model']): Launch['model'] =>
  named && (!said || said.unresolved !== undefined || MOUNTS.test(said.text)) ? named : said;

export function modelOf(options: readonly LaunchOption[], engine: LaunchEngine): Launch['model'] {
  const names = (o: LaunchOption) => o.name === engine.start.modelOption || o.spec?.role === 'model';
  const option = options.findLast((o) => names(o) && o.error === undefined);
  if (!option) {
    return undefined;
  }
  const range = option.valueRange ?? option.range;
  return option.unresolved === undefined
    ? { text: String(option.value), range }
    : { text: option.raw, range, unresolved: option.unresolved };
}

/** A server that only prefills or only decodes says so in an option. */
export function roleOf(options: readonly LaunchOption[]): Launch['role'] {
  for (const option of options) {
    const value = option.name.includes('transfer') || option.name.includes('disaggregation') ? option.value : undefined;
    const text = value === undefined ? '' : JSON.stringify(value);
    if (/"kv_producer"|^"prefill"/.test(text)) {
      return 'prefill';
    }
    if (/"kv_consumer"|^"decode"/.test(text)) {
      return 'decode';
    }
  }
  return 'serve';
}

/** Variables that set an option of this engine; anything on the command line comes after and wins. */
function environmentOptions(
  reading: Reading,
  variables: readonly Variable[],
  engine: LaunchEngine,
  shell: boolean,
): readonly LaunchOption[] {
  return variables.flatMap(({ name, value, word }) => {
    const spec = engine.options.find((o) => o.env === name);
    if (!spec) {
      return [];
    }
    const range = rangeOf(value);
    const unresolved = unknownIn(value);
    const read = unresolved === undefined ? readOptionValue(spec, value.text) : { unresolved };
    const raw = reading.text.slice(range.start, range.end);
    const layers = layersOf(value, 0, value.text.length, shell && word === true);
    const place = { range, nameRange: range, valueRange: range, line: reading.lines().line(range.start), layers };
    return [{ name: spec.name, spec, raw, origin: 'env' as const, ...place, ...read }];
  });
}

/** A list of devices leaves no more than it names of what something else asks for. */
export function withVisibleDevices(hardware: HardwareHint, variables: readonly Variable[]): HardwareHint {
  const visible = variables.findLast((v) => /^(?:CUDA|NVIDIA|HIP|ROCR)_VISIBLE_DEVICES$/.test(v.name));
  const devices = visible && unresolvedIn(visible.value) === undefined ? visible.value.text.split(',') : [];
  if (
    !visible ||
    (hardware.count && hardware.count.value <= devices.length) ||
    !devices.every((d) => /^\s*(?:\d+|GPU-[\w-]+|MIG-[\w-]+)\s*$/.test(d)) ||
    devices.length === 0
  ) {
    return hardware;
  }
  return { gpu: hardware.gpu, count: { value: devices.length, range: rangeOf(visible.value) } };
}

/** What the file that the launch names says: most engines read it before their own words, so that the words win. */
function followConfig(
  reading: Reading,
  read: Arguments,
  { start: { engine }, hostPath }: Draft,
): { readonly options: readonly LaunchOption[] } {
  const named = read.options.findLast((o) => o.spec !== undefined && o.name === engine.start.configOption);
  if (
    !named?.valueRange ||
    typeof named.value !== 'string' ||
    !/\.ya?ml$/i.test(named.value) ||
    (isAttached(reading, named) && !engine.start.configRules?.attached)
  ) {
    return { options: [] };
  }
  const written = reading.written.get(named.value) ?? reading.written.get(named.value.replace(/^.*\//, ''));
  if (written) {
    return readConfig(parseYaml(reading.text, written.body.extent), engine, reading.lines(), written.lookup);
  }
  const path = hostPath?.(named.value) ?? named.value;
  const text = reading.file(path);
  if (typeof text !== 'string') {
    return { options: [] };
  }
  const lines = linesOf(text);
  const { options } = readConfig(parseYaml(text, { start: 0, end: text.length }), engine, lines);
  const wins = engine.start.configRules?.wins ?? false;
  return { options: options.map((o) => elsewhere(o, path, named, wins)) };
}

/** `--config=FILE` is one word, and some engines look for two. */
function isAttached(reading: Reading, option: LaunchOption): boolean {
  const between = reading.text.slice(option.nameRange.end, option.valueRange?.start);
  return between.startsWith('=');
}

/** As said in a file that this one names: it has the place of the name. */
export function elsewhere(
  option: LaunchOption,
  file: string,
  named: { readonly range: TextRange; readonly line?: number },
  wins: boolean,
): LaunchOption {
  const { valueRange: _value, layers: _layers, ...rest } = option;
  const place: TextRange = named.range;
  return {
    ...rest,
    range: place,
    nameRange: place,
    ...(named.line === undefined ? {} : { line: named.line }),
    from: { file, range: option.range, line: option.line ?? 1, ...(wins ? { wins } : {}) },
  };
}

/** Whether a word of a YAML map could be this engine's option, for telling its config from other files. */
export const isOptionKey = (engine: LaunchEngine, key: string): boolean => {
  const found = findOption(engine.options, `--${key}`);
  return found !== undefined && !('ambiguous' in found) && !found.abbreviated;
};
