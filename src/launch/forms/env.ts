/** `.env` files that hold an engine's settings: its variables (`OLLAMA_NUM_PARALLEL`), or flags in a value (`VLLM_ARGS`). */
import { assemble } from '../assemble';
import type { LaunchEngine } from '../engines';
import type { Insertion, TextRange } from '../launch';
import type { Reading } from '../reading';
import { readScript } from '../shell/script';
import { type IniSetting, readIni } from '../text/ini';
import { type Mapped, part, rangeOf } from '../text/mapped';
import { engineOfVariables, modelAmong, startInVariable, variableNames } from '../words/by-variables';
import { VARIABLE } from '../words/insertion';
import { splice } from '../words/splice';
import { started } from '../words/start';
import type { Variable } from '../words/variable';
import { eolOf } from '../yaml/insertion';
import type { TextForm } from './form';

export const envFile: TextForm = {
  kind: 'text',
  form: 'env-file',
  names: /(?:^|[\\/])\.env(?:[._-][^\\/]*)?$|\.env(?:\.(?:example|sample|template|dist|local|prod|dev))?$/i,
  recognises: () => false,
  read: (reading) => {
    const written = variablesOf(reading);
    const variables = written.map(({ name, value }) => ({ name, value }));
    const engine = engineOfVariables(
      written.map((v) => v.name),
      reading.engines,
    );
    if (engine) {
      byName(reading, engine, written);
    }
    for (const variable of variables) {
      byFlags(reading, variable, variables);
    }
  },
};

interface Written extends Variable {
  readonly setting: IniSetting;
}

const REFERENCE = /\\\$|\$\{(\w+)(?::?-[^}]*)?\}|\$(\w+)/g;

function variablesOf(reading: Reading): readonly Written[] {
  const all: Written[] = [];
  for (const setting of readIni(reading.text, {}).flatMap((s) => s.settings)) {
    const value = unquotedIn(reading.text, setting.value);
    const literal = reading.text[setting.value.extent.start] === "'";
    const filled = literal
      ? value
      : splice(value, REFERENCE, (name) => all.findLast((v) => v.name === name)?.value ?? unset(name));
    all.push({ name: setting.key, value: filled, setting });
  }
  return all;
}

const unset = (name: string) => ({ unresolved: `${name} is not set in this file` });

/** Quotes and a trailing comment are no part of the value. */
function unquotedIn(text: string, written: Mapped): Mapped {
  const quote = /^["']/.exec(written.text)?.[0];
  const close = quote === undefined ? -1 : written.text.indexOf(quote, 1);
  const comment = /\s+#/.exec(written.text)?.index ?? written.text.length;
  const inner = quote !== undefined && close > 0 ? part(written, 1, close) : part(written, 0, comment);
  const value = inner.text === '' ? part(written, 0, 0) : inner;
  const outer = rangeOf(written, 0, quote !== undefined && close > 0 ? close + 1 : comment);
  const range: TextRange = quote !== undefined && close > 0 ? outer : rangeOf(value);
  return { ...value, layers: [{ kind: 'env-value', range }], extent: text === '' ? value.extent : range };
}

function byName(reading: Reading, engine: LaunchEngine, written: readonly Written[]): void {
  const own = written.filter((v) => isOf(engine, v.name));
  const first = own[0] as Written;
  const last = own.at(-1) as Written;
  const around = { environment: own, hardware: {}, contained: true as const };
  reading.found(
    assemble(reading, {
      form: 'env-file',
      title: titleOf(reading),
      range: { start: first.setting.range.start, end: last.setting.range.end },
      start: started(around, engine, first.setting.keyRange, [], false),
      shell: false,
      insertion: { ...insertionAfter(reading.text, last.setting), names: variableNames(engine) },
    }),
  );
}

const isOf = (engine: LaunchEngine, name: string): boolean =>
  engine.options.some((o) => o.env === name) || /^(?:CUDA|HIP|ROCR)_VISIBLE_DEVICES$/.test(name);

const titleOf = (reading: Reading): string => reading.input.name.replace(/^.*[\\/]/, '');

function insertionAfter(text: string, last: IniSetting): Insertion {
  const rest = /^[^\r\n]*/.exec(text.slice(last.range.end))?.[0] ?? '';
  const at = last.range.end + rest.length;
  const layers = [{ kind: 'env-value' as const, range: { start: at, end: at } }];
  return { at, text: `${eolOf(text)}{name}={value}`, layers, only: VARIABLE };
}

function byFlags(reading: Reading, variable: Variable, all: readonly Variable[]): void {
  const found = startInVariable(variable, reading.engines);
  if (!found) {
    return;
  }
  const range = variable.value.extent;
  const title = variable.name;
  if (found.kind === 'script') {
    readScript(reading, found, { form: 'env-file', title, range });
    return;
  }
  const launch = assemble(reading, { form: 'env-file', title, range, start: found, shell: true });
  const model = modelAmong(all);
  const named = model ? { text: model.value.text, range: rangeOf(model.value) } : undefined;
  reading.found({ ...launch, ...(launch.model || !named ? {} : { model: named }) });
}
