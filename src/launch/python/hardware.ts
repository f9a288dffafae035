/** GPUs that decorators ask for: Modal's `gpu="H100:8"`, BentoML's resources, Ray's actors. */
import type { HardwareHint, TextRange } from '../launch';
import type { Mapped } from '../text/mapped';
import { rangeOf } from '../text/mapped';
import { given } from './evaluate';
import type { Runner } from './run';
import { asText, type MapEntry, type Placed } from './values';

/** Of the decorators around what runs now, the nearest that says something. */
export function hardwareOf(r: Runner, script: Mapped): HardwareHint {
  for (const decorator of [...r.decorators].reverse()) {
    const call = decorator.namedChild(0);
    const list = call?.type === 'call' ? call.childForFieldName('arguments') : null;
    const hint = list ? hintOf(given(r, list).keywords, script) : undefined;
    if (hint && (hint.gpu || hint.count)) {
      return hint;
    }
  }
  return {};
}

function hintOf(keywords: readonly MapEntry[], script: Mapped): HardwareHint {
  const gpu = keywords.find((k) => k.key === 'gpu');
  if (gpu) {
    return modalGpu(gpu, script);
  }
  const inner = keywords.find((k) => k.key === 'resources' || k.key === 'ray_actor_options')?.value;
  const all = [...keywords, ...(inner?.kind === 'map' ? inner.entries : [])];
  const type = all.find((k) => k.key === 'gpu_type' || k.key === 'accelerator_type');
  const count = all.find((k) => (k.key === 'gpu' && k !== gpu) || k.key === 'num_gpus');
  const text = type && asText(type.value);
  const number = count?.value.kind === 'plain' ? Number(count.value.value) : Number.NaN;
  return {
    ...(type && text !== undefined ? { gpu: { text, range: type.range } } : {}),
    ...(count && Number.isInteger(number) && number > 0 ? { count: { value: number, range: count.range } } : {}),
  };
}

/** `"H100:8"`, `f"H100:{N}"`, a list of choices (the first), `modal.gpu.A100(count=2, size="80GB")`. */
function modalGpu(placed: Placed, script: Mapped): HardwareHint {
  const { value } = placed;
  if (value.kind === 'list' && value.items[0]) {
    return modalGpu(value.items[0], script);
  }
  if (value.kind === 'made') {
    const size = value.given.keywords.find((k) => k.key === 'size');
    const memory = size && asText(size.value);
    const text = value.path.replace(/^.*\./, '') + (memory === undefined ? '' : `-${memory}`);
    const count = value.given.keywords.find((k) => k.key === 'count');
    const n = count?.value.kind === 'plain' ? Number(count.value.value) : 1;
    return { gpu: { text, range: placed.range }, count: { value: n, range: count?.range ?? placed.range } };
  }
  const text = value.kind === 'text' ? value.text.text : undefined;
  const found = text === undefined ? undefined : /^([\w-]+)(?::(\d+))?$/.exec(text);
  if (!found || value.kind !== 'text') {
    return {};
  }
  const [, name = '', number] = found;
  const where = (from: number, to: number): TextRange =>
    placed.literal ? rangeOf(value.text, from, to) : placed.range;
  const gpu = { text: name, range: where(0, name.length) };
  const count = Number(number ?? '1');
  const range = number === undefined ? gpu.range : where(name.length + 1, found[0].length);
  return { gpu, count: { value: count, range } };
}
