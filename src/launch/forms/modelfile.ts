/** Ollama's Modelfile: `FROM MODEL`, `PARAMETER num_ctx 8192`. Words of instructions in any case; ollama parser/parser.go. */
import { assemble } from '../assemble';
import type { LaunchEngine } from '../engines';
import type { LaunchOption } from '../launch';
import type { Reading } from '../reading';
import { settingOf, unknownSetting } from '../setting';
import { type Mapped, plainText } from '../text/mapped';
import { NOTHING, started } from '../words/start';
import { eolOf } from '../yaml/insertion';
import type { TextForm } from './form';

export const modelfile: TextForm = {
  kind: 'text',
  form: 'modelfile',
  names: /(?:^|[\\/])modelfile(?:[._-][^\\/]*)?$|\.modelfile$/i,
  recognises: (head) => /^FROM\s+\S/im.test(head) && /^PARAMETER\s+num_\w+\s+\d/im.test(head),
  read: (reading) => {
    const engine = reading.engines.find((e) => e.id === 'ollama');
    const all = [...instructions(reading.text)];
    const from = all.find((i) => i.word === 'FROM' && i.value.text !== '');
    if (!engine || !from) {
      return;
    }
    const parameters = all.filter((i) => i.word === 'PARAMETER');
    const last = parameters.at(-1) ?? from;
    const launch = assemble(reading, {
      form: 'modelfile',
      title: reading.input.name.replace(/^.*[\\/]/, ''),
      range: { start: from.start, end: reading.text.trimEnd().length },
      start: started(NOTHING, engine, from.value.extent, [], false),
      shell: false,
      options: [...modelOption(reading, engine, from), ...parameters.flatMap((p) => optionOf(reading, engine, p))],
      insertion: {
        at: last.end,
        text: `${eolOf(reading.text)}PARAMETER {name} {value}`,
        layers: [{ kind: 'ini', range: { start: last.end, end: last.end } }],
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
function* instructions(text: string): Generator<Instruction> {
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
    yield { word: word.toUpperCase(), start, end, wordEnd: start + word.length, value: unquoted(text, from, end) };
  }
}

function unquoted(text: string, from: number, end: number): Mapped {
  const quoted = end - from > 1 && text[from] === '"' && text[end - 1] === '"' ? 1 : 0;
  const value = plainText(text, from + quoted, end - quoted, [{ kind: 'ini', range: { start: from, end } }]);
  return { ...value, extent: { start: from, end } };
}

function modelOption(reading: Reading, engine: LaunchEngine, from: Instruction): readonly LaunchOption[] {
  const pair = { keyRange: { start: from.start, end: from.wordEnd }, flag: '--model', value: from.value };
  const option = settingOf(reading, engine, pair);
  return option ? [option] : [];
}

/** `PARAMETER stop …` may come many times, and says nothing of memory. */
function optionOf(reading: Reading, engine: LaunchEngine, { value }: Instruction): readonly LaunchOption[] {
  const { start, end } = value.extent;
  const found = /^(\w+)([ \t]+)(?=\S)/.exec(reading.text.slice(start, end));
  const [all, name = ''] = found ?? [''];
  if (!found || name === 'stop') {
    return [];
  }
  const keyRange = { start, end: start + name.length };
  const pair = { keyRange, flag: `--${name}`, value: unquoted(reading.text, start + all.length, end) };
  return [settingOf(reading, engine, pair) ?? unknownSetting(reading, name, pair)];
}
