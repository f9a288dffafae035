/** An option that a file writes as a key and a value: a line of an INI file, a parameter, a variable. */
import type { OptionReading, OptionSpec } from '../core/engines/option';
import { findOption } from '../core/engines/option-find';
import { readOptionValue } from '../core/engines/option-read';
import type { LaunchEngine } from './engines';
import type { LaunchOption, TextRange } from './launch';
import type { Reading } from './reading';
import { layersOf, type Mapped, rangeOf } from './text/mapped';
import { unknownIn } from './text/placeholder';

export interface Pair {
  readonly keyRange: TextRange;
  /** What the engine's command line calls it: `--ctx-size`, `-c`. */
  readonly flag: string;
  readonly value: Mapped;
  /** The value is a word of a shell. */
  readonly shell?: boolean;
}

/** Undefined for what is no option of the engine: names are taken as they are, never as beginnings of names. */
export function settingOf(reading: Reading, engine: LaunchEngine, pair: Pair): LaunchOption | undefined {
  const found = findOption(engine.options, pair.flag);
  if (!found || 'ambiguous' in found || found.abbreviated || found.attached !== undefined) {
    return undefined;
  }
  const { spec } = found;
  const name = found.path ? `${spec.name}.${found.path.join('.')}` : spec.name;
  const unresolved = unknownIn(pair.value);
  const read = unresolved === undefined ? readIn(spec, pair.value.text, found.negated) : { unresolved };
  return placed(reading, { name, spec }, pair, read);
}

/** The same for a key that is no option: it may be one of a version not known here. */
export function unknownSetting(reading: Reading, name: string, pair: Pair): LaunchOption {
  const unresolved = unknownIn(pair.value);
  return placed(reading, { name }, pair, unresolved === undefined ? { value: pair.value.text } : { unresolved });
}

function placed(
  reading: Reading,
  named: Pick<LaunchOption, 'name' | 'spec'>,
  { keyRange, value, shell }: Pair,
  read: OptionReading | { readonly unresolved: string },
): LaunchOption {
  const valueRange = rangeOf(value);
  return {
    ...named,
    raw: reading.text.slice(valueRange.start, valueRange.end),
    origin: 'file',
    line: reading.lines().line(keyRange.start),
    range: valueRange.start < keyRange.start ? keyRange : { start: keyRange.start, end: valueRange.end },
    nameRange: keyRange,
    valueRange,
    layers: layersOf(value, 0, value.text.length, shell ?? false),
    ...read,
  };
}

const ON = /^(?:true|on|yes|1|enabled)$/i;
const OFF = /^(?:false|off|no|0|disabled)$/i;

/** A flag's key may be written with a word that says whether it is set. */
function readIn(spec: OptionSpec, text: string, negated: boolean): OptionReading {
  if (spec.type !== 'flag' || spec.words?.includes(text)) {
    return readOptionValue(spec, text);
  }
  if (text === '' || ON.test(text)) {
    return { value: !negated };
  }
  return OFF.test(text) ? { value: negated } : { error: `${spec.name} is a flag: on or off, not "${text}"` };
}
