/** Words of a command line on Windows: double quotes hold together, and a caret escapes in a batch script. */
import type { Layer } from '../launch';
import { addPart, addUnit, type Builder, builder, finish, type Mapped, rangeOf } from '../text/mapped';

/** White space separates, quotes hold together, `^` takes the next character as it is; redirections are left out. */
export function windowsWords(m: Mapped, caret: boolean): readonly Mapped[] {
  const words: Mapped[] = [];
  let word: Builder | undefined;
  let from = 0;
  const end = (to: number) => {
    if (word) {
      words.push(finish(word, m.layers, rangeOf(m, from, to)));
      word = undefined;
    }
  };
  for (let i = 0; i < m.text.length; ) {
    const c = m.text[i] as string;
    if (/\s/.test(c)) {
      end(i++);
      continue;
    }
    if (caret && !word && /^(?:[12]?>>?(?:&[12])?|<)/.test(m.text.slice(i))) {
      i += /^(?:[12]?>>?(?:&[12]|\s*\S*)|<\s*\S*)/.exec(m.text.slice(i))?.[0].length ?? 1;
      continue;
    }
    if (caret && c === '^') {
      const skip = /^\^\r?\n?/.exec(m.text.slice(i))?.[0].length ?? 1;
      if (skip > 1) {
        end(i);
        i += skip;
        continue;
      }
      word ??= startAt(i);
      addUnit(word, m.text[i + 1] ?? '', rangeOf(m, i, Math.min(i + 2, m.text.length)));
      i += 2;
      continue;
    }
    word ??= startAt(i);
    i = c === '"' ? addQuoted(word, m, i) : addBare(word, m, i, caret);
  }
  end(m.text.length);
  return words;

  function startAt(i: number): Builder {
    from = i;
    return builder();
  }
}

function addQuoted(word: Builder, m: Mapped, at: number): number {
  const close = closing(m.text, at + 1);
  const range = rangeOf(m, at, Math.min(close + 1, m.text.length));
  const layer: Layer = { kind: 'batch-quoted', range };
  const escaped = m.text.slice(at + 1, close);
  let from = 0;
  for (const quote of escaped.matchAll(/\\"|""/g)) {
    addLayered(word, m, at + 1 + from, at + 1 + quote.index, layer);
    from = quote.index + quote[0].length;
    addUnit(word, '"', rangeOf(m, at + 1 + quote.index, at + 1 + from), { outer: [layer] });
  }
  if (close === at + 1) {
    addUnit(word, '', { start: range.start + 1, end: range.start + 1 }, { outer: [layer] });
  }
  addLayered(word, m, at + 1 + from, close, layer);
  return close + 1;
}

function closing(text: string, from: number): number {
  for (let i = from; i < text.length; i++) {
    if (text[i] === '\\' && text[i + 1] === '"') {
      i++;
    } else if (text[i] === '"' && text[i + 1] === '"') {
      i++;
    } else if (text[i] === '"') {
      return i;
    }
  }
  return text.length;
}

function addBare(word: Builder, m: Mapped, at: number, caret: boolean): number {
  const length = (caret ? /^[^\s"^]+/ : /^[^\s"]+/).exec(m.text.slice(at, at + 4096))?.[0].length ?? 1;
  const layer: Layer = { kind: 'batch-bare', range: rangeOf(m, at, at + length) };
  addLayered(word, m, at, at + length, layer);
  return at + length;
}

function addLayered(word: Builder, m: Mapped, from: number, to: number, layer: Layer): void {
  const inner = builder();
  addPart(inner, m, from, to);
  for (const s of inner.segments) {
    word.segments.push({ ...s, at: word.text.length + s.at, outer: [...(s.outer ?? []), layer] });
  }
  word.text += inner.text;
}
