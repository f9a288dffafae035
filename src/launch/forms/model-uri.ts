/** `hf://org/m:revision`, `https://huggingface.co/org/m`, `ollama://m`: the model that a storage address names. */
import type { Launch } from '../launch';
import { type Mapped, rangeOf } from '../text/mapped';
import { unknownIn } from '../text/placeholder';

const HUB = /^(?:hf|huggingface|hf_hub|modelscope):\/\/([^/:@?#\s]+\/[^/:@?#\s]+)/;
const HUB_PAGE = /^https:\/\/(?:www\.)?(?:huggingface\.co|hf\.co)\/([^/\s]+\/[^/?#\s]+)\/?$/;
const OTHER = /^(?:ollama|pvc-ollama):\/\/(.+)$/;

/** The part of the address that is the model's name; all of it where no part is. */
export function modelUri(text: Mapped): NonNullable<Launch['model']> {
  const unresolved = unknownIn(text);
  const name = (HUB.exec(text.text) ?? HUB_PAGE.exec(text.text) ?? OTHER.exec(text.text))?.[1] ?? text.text;
  const from = text.text.indexOf(name);
  return unresolved === undefined
    ? { text: name, range: rangeOf(text, from, from + name.length) }
    : { text: text.text, range: rangeOf(text), unresolved };
}
