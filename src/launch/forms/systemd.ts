/** systemd units and Podman's Quadlet files: `ExecStart=`, `Environment=`, `EnvironmentFile=`; systemd.syntax(7), systemd.exec(5). */
import { assemble } from '../assemble';
import { readEnvFile } from '../env-file';
import type { HardwareHint, Insertion, Layer } from '../launch';
import { mentionsEngine } from '../mentions';
import type { Reading } from '../reading';
import { readScript } from '../shell/script';
import { type IniSection, type IniSetting, readIni } from '../text/ini';
import { type Mapped, part, rangeOf, unit } from '../text/mapped';
import { engineOfVariables } from '../words/by-variables';
import { gpuCount } from '../words/container';
import { findStart, startInImage } from '../words/find-start';
import { readImage } from '../words/image';
import { VARIABLE } from '../words/insertion';
import { type Known, splice } from '../words/splice';
import { splitWords } from '../words/split';
import { type Found, NOTHING, nearer, started, surrounded } from '../words/start';
import { assignedName, type Variable } from '../words/variable';
import { eolOf } from '../yaml/insertion';
import type { TextForm } from './form';

export const systemd: TextForm = {
  kind: 'text',
  form: 'systemd',
  names: /\.(?:service|container)$|\.(?:service|container)\.d[\\/][^\\/]+\.conf$|(?:^|[\\/])override\.conf$/i,
  recognises: () => false,
  fences: ['systemd', 'ini', 'service', 'unit', 'desktop'],
  read: (reading, text) => {
    if (!mentionsEngine(text.text, reading.engines) && !/\bOLLAMA_|\bLLAMA_ARG_/.test(text.text)) {
      return;
    }
    const sections = readIni(text, { continued: true });
    for (const section of sections.filter((s) => s.name === 'Service' || s.name === 'Container')) {
      readSection(reading, { ...section, settings: section.settings.map(inUnit) });
    }
  },
};

/** How a line of a unit is written. */
const inUnit = (s: IniSetting): IniSetting => ({
  ...s,
  value: { ...s.value, layers: [...s.value.layers, { kind: 'systemd', range: s.value.extent }] },
});

function readSection(reading: Reading, section: IniSection): void {
  const environment = environmentOf(reading, section);
  const commands = section.settings.filter((s) => s.key === 'ExecStart' && s.value.text !== '');
  const image = section.settings.findLast((s) => s.key === 'Image');
  if (image) {
    inContainer(reading, section, image, environment);
    return;
  }
  for (const command of commands) {
    const found = findStart(commandWords(withoutPrefix(command.value), environment), reading.engines);
    if (found) {
      place(reading, section, command, withVariables(found, environment));
    }
  }
  if (commands.length === 0) {
    byVariables(reading, section, environment);
  }
}

/** A Quadlet unit: `Image=` and `Exec=` are what `podman run IMAGE …` would say. */
function inContainer(reading: Reading, section: IniSection, image: IniSetting, environment: readonly Variable[]): void {
  const exec = section.settings.findLast((s) => s.key === 'Exec');
  const entry = section.settings.findLast((s) => s.key === 'Entrypoint');
  const known = readImage(image.value, reading.engines);
  const around = {
    environment,
    hardware: devicesOf(section),
    contained: true as const,
    ...(known ? { image: known } : {}),
  };
  const words = exec ? commandWords(exec.value, environment) : [];
  const found = startInImage(entry && splitWords(entry.value), words, reading.engines, around, image.value);
  if (found) {
    place(reading, section, exec ?? image, found);
  }
}

function devicesOf(section: IniSection): HardwareHint {
  const args = section.settings.filter((s) => s.key === 'PodmanArgs').flatMap((s) => splitWords(s.value));
  const at = args.findIndex((w) => /^--gpus(?:=|$)/.test(w.text));
  const word = at === -1 ? undefined : args[at]?.text.includes('=') ? args[at] : args[at + 1];
  const count = word && gpuCount(word.text.replace(/^--gpus=/, ''));
  return word && count !== undefined ? { count: { value: count, range: rangeOf(word) } } : {};
}

/** What may stand before the path of the program. */
const PREFIX = /^[-@:+!|]+(?=[/A-Za-z%$])/;

const withoutPrefix = (command: Mapped): Mapped =>
  part(command, PREFIX.exec(command.text)?.[0].length ?? 0, command.text.length);

function commandWords(command: Mapped, environment: readonly Variable[]): readonly Mapped[] {
  const lookup = (name: string): Known =>
    environment.findLast((v) => v.name === name)?.value ?? { unresolved: `${name} is not set in this unit` };
  const words = splitWords(filledIn(command));
  return words.flatMap((w) => {
    const filled = splice(w, /\$\$|\$\{(\w+)\}|\$(\w+)/g, lookup);
    return /^\$\w+$/.test(w.text) ? splitWords(filled) : [filled];
  });
}

const HOME = 'the home of the user that the unit runs as';
const SPECIFIERS: Readonly<Record<string, string>> = {
  h: HOME,
  u: 'the user that the unit runs as',
  i: 'the name that the unit is started with',
  I: 'the name that the unit is started with',
};

/** `%h`, `%i`: known when the unit runs. */
const filledIn = (m: Mapped): Mapped =>
  splice(m, /%%|%([A-Za-z])/g, (letter) => ({
    unresolved: `%${letter} is ${SPECIFIERS[letter] ?? 'filled in by systemd'}`,
  }));

function environmentOf(reading: Reading, section: IniSection): readonly Variable[] {
  return section.settings.flatMap((s) => {
    if (s.key === 'Environment') {
      return splitWords(filledIn(s.value)).flatMap(assigned);
    }
    if (s.key !== 'EnvironmentFile') {
      return [];
    }
    const text = /%/.test(s.value.text) ? undefined : reading.file(s.value.text.replace(/^-/, ''));
    return typeof text === 'string'
      ? [...readEnvFile(text)].map(([name, value]) => ({ name, value: unit(value, rangeOf(s.value)) }))
      : [];
  });
}

function assigned(word: Mapped): readonly Variable[] {
  const name = assignedName(word.text);
  return name === undefined ? [] : [{ name, value: quotedPart(word, name.length + 1) }];
}

/** `"NAME=value"`: the quotes stand around all of it, and stay a way of writing the value. */
function quotedPart(word: Mapped, from: number): Mapped {
  const value = part(word, from, word.text.length);
  const span = value.segments[0]?.span;
  const layer = span
    ? { kind: span.kind, range: { start: span.start, end: span.end } }
    : { kind: 'shell-bare' as const, range: rangeOf(value) };
  return { ...value, layers: [...word.layers, layer] };
}

const withVariables = (found: Found, environment: readonly Variable[]): Found => {
  const all = surrounded(found, [...environment, ...found.environment], nearer({}, found.hardware));
  return { ...all, contained: true };
};

const titleOf = (reading: Reading): string => reading.input.name.replace(/^.*[\\/]/, '');

function place(reading: Reading, section: IniSection, command: IniSetting, found: Found): void {
  const title = titleOf(reading);
  if (found.kind === 'script') {
    readScript(reading, found, { form: 'systemd', title, range: section.range });
    return;
  }
  const elsewhere = found.words.at(-1)?.extent.end !== command.value.extent.end;
  const insertion = found.engine.start.byEnvironment
    ? variableLine(reading.text, command)
    : command.key === 'Image'
      ? undefined
      : elsewhere
        ? afterCommand(command)
        : undefined;
  const more = insertion ? { insertion } : {};
  reading.found(
    assemble(reading, { form: 'systemd', title, range: section.range, start: found, shell: true, ...more }),
  );
}

/** Another line of the unit, after this one. */
function variableLine(text: string, after: IniSetting): Insertion {
  const at = after.range.end;
  const layers: readonly Layer[] = [
    { kind: 'systemd', range: { start: at, end: at } },
    { kind: 'shell-double', range: { start: at, end: at } },
  ];
  return { at, text: `${eolOf(text)}Environment="{name}={value}"`, layers, only: VARIABLE };
}

/** Where the last words come out of a variable. */
function afterCommand(command: IniSetting): Insertion {
  const at = command.value.extent.end;
  const layers: readonly Layer[] = [...command.value.layers, { kind: 'shell-bare', range: { start: at, end: at } }];
  return { at, text: ' --{name} {value}', layers };
}

/** A drop-in of a unit that stands elsewhere. */
function byVariables(reading: Reading, section: IniSection, environment: readonly Variable[]): void {
  const names = environment.map((v) => v.name);
  const engine = engineOfVariables(names, reading.engines);
  const lines = section.settings.filter((s) => s.key === 'Environment');
  const last = lines.at(-1);
  if (engine && last) {
    reading.found(
      assemble(reading, {
        form: 'systemd',
        title: titleOf(reading),
        range: section.range,
        start: started({ ...NOTHING, environment, contained: true }, engine, section.nameRange, [], false),
        shell: true,
        insertion: variableLine(reading.text, last),
      }),
    );
  }
}
