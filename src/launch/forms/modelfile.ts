/** Ollama's Modelfile: `FROM MODEL`, `PARAMETER num_ctx 8192`. Words of instructions in any case; ollama parser/parser.go. */
import { assemble } from '../assemble';
import type { LaunchEngine } from '../engines';
import type { LaunchOption } from '../launch';
import type { Reading } from '../reading';
import { settingOf, unknownSetting } from '../setting';
import { type Mapped, part, rangeOf } from '../text/mapped';
import { NOTHING, started } from '../words/start';
import { eolOf } from '../yaml/insertion';
import type { TextForm } from './form';

export const modelfile: TextForm = {
  kind: 'text',
  form: 'modelfile',
  names: /(?:^|[\\/])modelfile(?:[._-][^\\/]*)?$|\.modelfile$/i,
  recognises: (head) => /^FROM\s+\S/im.test(head) && /^PARAMETER\s+num_\w+\s+\d/im.test(head),
  fences: ['modelfile'],
  read: (reading, text) => {
    const engine = reading.engines.find((e) => e.id === 'ollama');
    const all = [...instructions(text)];
    const from = all.find((i) => i.word === 'FROM' && i.value.text !== '');
    if (!engine || !from) {
      return;
    }
    const parameters = all.filter((i) => i.word === 'PARAMETER');
    const last = parameters.at(-1) ?? from;
    const launch = assemble(reading, {
      form: 'modelfile',
      title: reading.input.name.replace(/^.*[\\/]/, ''),
      range: { start: from.start, end: rangeOf(text, 0, text.text.trimEnd().length).end },
      start: started(NOTHING, engine, from.value.extent, [], false),
      shell: false,
      options: [...modelOption(reading, engine, from), ...parameters.flatMap((p) => optionOf(reading, engine, p))],
      insertion: {
        at: last.end,
        text: `${eolOf(reading.text)}PARAMETER {name} {value}`,
        layers: [...text.layers, { kind: 'ini', range: { start: last.end, end: last.end } }],
        only: /^[a-z][a-z0-9_]*$/,
      },
    });
    reading.found(launch);
  },
};

interface Instruction {
  readonly word: string;
  readonly start: number;
  /** End of the line, without white space. */
  readonly end: number;
  readonly wordEnd: number;
  readonly value: Mapped;
}

const LINE = /^([ \t\uFEFF]*)([A-Za-z]+)([ \t]+)([^\r\n]*)/gm;
const OPEN = /^(?:[A-Za-z]+|MESSAGE[ \t]+\w+)[ \t]+"""/;

/** Texts in three quotes go over many lines, and what stands in them is no instruction. */
function* instructions(m: Mapped): Generator<Instruction> {
  const { text } = m;
  LINE.lastIndex = 0;
  let skipTo = 0;
  for (const found of text.matchAll(LINE)) {
    if (found.index < skipTo) {
      continue;
    }
    const [, lead = '', word = '', gap = '', rest = ''] = found;
    const start = found.index + lead.length;
    const from = start + word.length + gap.length;
    if (OPEN.test(text.slice(start, start + 200))) {
      const open = text.indexOf('"""', start);
      const close = text.indexOf('"""', open + 3);
      skipTo = close === -1 ? text.length : close + 3;
    }
    const end = from + rest.trimEnd().length;
    const written = rangeOf(m, start, end);
    const wordEnd = rangeOf(m, start, start + word.length).end;
    yield { word: word.toUpperCase(), ...written, wordEnd, value: unquoted(m, from, end) };
  }
}

function unquoted(m: Mapped, from: number, end: number): Mapped {
  const quoted = end - from > 1 && m.text[from] === '"' && m.text[end - 1] === '"' ? 1 : 0;
  const extent = rangeOf(m, from, end);
  const value = part(m, from + quoted, end - quoted);
  return { ...value, layers: [...m.layers, { kind: 'ini', range: extent }], extent };
}

function modelOption(reading: Reading, engine: LaunchEngine, from: Instruction): readonly LaunchOption[] {
  const pair = { keyRange: { start: from.start, end: from.wordEnd }, flag: '--model', value: from.value };
  const option = settingOf(reading, engine, pair);
  return option ? [option] : [];
}

/** `PARAMETER stop …` may come many times, and says nothing of memory. */
function optionOf(reading: Reading, engine: LaunchEngine, { value }: Instruction): readonly LaunchOption[] {
  const found = /^(\w+)([ \t]+)(?=\S)/.exec(value.text);
  const [all, name = ''] = found ?? [''];
  if (!found || name === 'stop') {
    return [];
  }
  const keyRange = rangeOf(value, 0, name.length);
  const inner = { ...value, layers: value.layers.slice(0, -1) };
  const pair = { keyRange, flag: `--${name}`, value: unquoted(inner, all.length, value.text.length) };
  return [settingOf(reading, engine, pair) ?? unknownSetting(reading, name, pair)];
}
