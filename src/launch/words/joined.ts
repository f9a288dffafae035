/** Items of a list that hold an option and its value. */
import { type Mapped, part } from '../text/mapped';

/** `--a b` in one item is one word, and no option to the engine; people mean two. */
export function joined(word: Mapped): readonly Mapped[] {
  const match = /^(--?[A-Za-z][\w.-]*)\s+(?=\S)/.exec(word.text);
  return match && !word.text.includes('\n')
    ? [part(word, 0, (match[1] as string).length), part(word, match[0].length, word.text.length)]
    : [word];
}
