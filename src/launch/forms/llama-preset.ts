/**
 * llama.cpp's presets (`llama-server --models-preset FILE`): a section is a model, `[*]` holds what all of them share, a
 * key is a long or short flag without its dashes or the name of its variable. llama.cpp docs/preset.md, common/preset.cpp.
 */
import { assemble } from '../assemble';
import type { LaunchEngine } from '../engines';
import type { Insertion, LaunchOption } from '../launch';
import type { Reading } from '../reading';
import { settingOf, unknownSetting } from '../setting';
import { type IniSection, type IniSetting, readIni } from '../text/ini';
import { NOTHING, started } from '../words/start';
import { eolOf } from '../yaml/insertion';
import type { TextForm } from './form';

const TRAILING = /[ \t][;#]/;

const engineOf = (reading: Reading): LaunchEngine | undefined => reading.engines.find((e) => e.id === 'llama-cpp');

export const llamaPreset: TextForm = {
  kind: 'text',
  form: 'llama-preset',
  names: /\.preset\.ini$|(?:^|[\\/])presets?\.ini$/i,
  recognises: (head, reading) => /\.ini$/i.test(reading.input.name) && isPreset(head, reading),
  read: (reading) => {
    const engine = engineOf(reading);
    if (!engine || !isPreset(reading.text, reading)) {
      return;
    }
    const sections = readIni(reading.text, { trailing: TRAILING });
    const shared = sections.filter((s) => s.name === '*').flatMap((s) => options(reading, engine, s));
    for (const section of sections.filter((s) => s.name !== '' && s.name !== '*')) {
      model(reading, engine, section, shared);
    }
    alone(reading, engine, sections);
  },
};

/** A file of a model’s own repository has no sections. */
function alone(reading: Reading, engine: LaunchEngine, sections: readonly IniSection[]): void {
  const first = sections[0];
  if (sections.length === 1 && first && first.settings.length > 0) {
    const setting = first.settings[0] as IniSetting;
    const range = { start: setting.range.start, end: first.range.end };
    model(reading, engine, { ...first, nameRange: setting.keyRange, range }, []);
  }
}

function model(reading: Reading, engine: LaunchEngine, section: IniSection, shared: readonly LaunchOption[]): void {
  const title = section.name === '' ? reading.input.name.replace(/^.*[\\/]/, '') : section.name;
  const launch = assemble(reading, {
    form: 'llama-preset',
    title,
    range: section.range,
    start: started(NOTHING, engine, section.nameRange, [], false),
    shell: false,
    options: [...shared, ...options(reading, engine, section)],
    insertion: insertionOf(reading.text, section),
  });
  const named = /^[\w.-]+\/[\w.-]+(?::[\w.-]+)?$/.test(section.name)
    ? { text: section.name, range: section.nameRange }
    : undefined;
  reading.found({ ...launch, ...(launch.model || !named ? {} : { model: named }) });
}

const options = (reading: Reading, engine: LaunchEngine, section: IniSection): readonly LaunchOption[] =>
  section.settings
    .map(written)
    .filter((s) => s.key !== 'version' && !s.key.startsWith('__'))
    .map((s) => optionOf(reading, engine, s) ?? unknownSetting(reading, s.key, { ...s, flag: s.key }));

const written = (s: IniSetting): IniSetting => ({
  ...s,
  value: { ...s.value, layers: [{ kind: 'ini', range: s.value.extent }] },
});

function optionOf(reading: Reading, engine: LaunchEngine, s: IniSetting): LaunchOption | undefined {
  const byVariable = engine.options.find((o) => o.env === s.key)?.name;
  const pair = { keyRange: s.keyRange, value: s.value };
  return (
    settingOf(reading, engine, { ...pair, flag: `--${byVariable ?? s.key}` }) ??
    settingOf(reading, engine, { ...pair, flag: `-${s.key}` })
  );
}

/** Most keys are this engine’s, and one of them says what no other tool’s file would. */
function isPreset(text: string, reading: Reading): boolean {
  const engine = engineOf(reading);
  const keys = new Set(
    readIni(text, {})
      .flatMap((s) => s.settings)
      .map((s) => s.key)
      .filter((k) => k !== 'version'),
  );
  const known = [...keys].filter((k) => engine && isKey(engine, k));
  return known.some((k) => TELLING.test(k)) && known.length >= 0.6 * keys.size;
}

const TELLING =
  /^(?:LLAMA_ARG_\w+|ctx-size|n-gpu-layers|gpu-layers|ngl|hf-repo|hf|hfr|cache-type-[kv]|ct[kv]|flash-attn|fa|mmproj|model)$/;

const isKey = (engine: LaunchEngine, key: string): boolean =>
  engine.options.some(
    (o) => o.name === key || o.aliases?.includes(key) || o.short?.includes(`-${key}`) || o.env === key,
  ) || engine.options.some((o) => o.type === 'flag' && key === `no-${o.name}`);

function insertionOf(text: string, section: IniSection): Insertion {
  const at = section.settings.at(-1)?.range.end ?? section.range.end;
  const rest = /^[^\r\n]*/.exec(text.slice(at))?.[0].trimEnd() ?? '';
  const end = at + rest.length;
  const spaced = section.settings.some((s) => /^\s/.test(text.slice(s.keyRange.end))) ? ' = ' : '=';
  const layers = [{ kind: 'ini' as const, range: { start: end, end } }];
  return {
    at: end,
    text: `${eolOf(text)}{name}${section.settings.length > 0 ? spaced : ' = '}{value}`,
    layers,
    only: FLAG,
  };
}

/** Long flags: no key of a file's section, no variable. */
const FLAG = /^[a-z][a-z0-9-]*$/;
