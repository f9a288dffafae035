/** A container image's name: which engine it holds, and which version its tag names. */
import type { Binding } from '../../core/engines/start-words';
import type { LaunchEngine } from '../engines';
import type { TextRange } from '../launch';
import { type Mapped, rangeOf } from '../text/mapped';

export interface Image {
  readonly engine: LaunchEngine;
  /** It holds a server of a binding, whose version is not the engine's. */
  readonly binding?: Binding;
  readonly version?: { readonly text: string; readonly range: TextRange };
}

export function readImage(word: Mapped, engines: readonly LaunchEngine[]): Image | undefined {
  const name = nameOf(word.text);
  for (const e of engines) {
    const binding = e.start.bindings?.find((b) => b.images.test(name));
    if (binding) {
      return { engine: e, binding };
    }
  }
  const engine = engines.find((e) => e.start.images.some((i) => i.test(name)));
  if (!engine) {
    return undefined;
  }
  // Images of what stands around the engine are tagged with its own version.
  const version = /(?:^|\/)(?:ai-dynamo|lmcache|llm-d)\//.test(name) ? undefined : imageVersion(word, engine);
  return version ? { engine, version } : { engine };
}

/** Without registry, tag and digest. A variable that is left in it (`${TAG:-latest}`) has no colon of its own. */
function nameOf(image: string): string {
  const [plain = ''] = image.replace(/\$\{[^{}]*\}/g, '_').split('@');
  const slash = plain.indexOf('/');
  const registry = slash === -1 ? '' : plain.slice(0, slash);
  const path = /[.:]|^localhost$/.test(registry) ? plain.slice(slash + 1) : plain;
  const colon = path.lastIndexOf(':');
  return colon > path.lastIndexOf('/') ? path.slice(0, colon) : path;
}

const NUMBER = String.raw`v?(\d+\.\d+(?:\.\d+)*(?:\.?(?:post|rc)\d+)?)`;
const LEADING_VERSION = new RegExp(`^${NUMBER}`, 'i');
const versions = new Map<string, RegExp>();

function versionAfter(engineId: string): RegExp {
  const known = versions.get(engineId) ?? new RegExp(`${engineId}[_-]?${NUMBER}`, 'i');
  versions.set(engineId, known);
  return known;
}

/** Empty where the image has none. */
export function tagOf(image: string): string {
  const [plain = ''] = image.split('@');
  const at = plain.lastIndexOf(':') + 1;
  return at > plain.lastIndexOf('/') && at > 0 ? plain.slice(at) : '';
}

/** `v0.8.5`, `0.8.5.post1`, `v0.10.0-x86`, `rocm6.4_vllm_0.9.1`; nothing for `latest`, `nightly` or months (`25.09-py3`). */
function imageVersion(word: Mapped, engine: LaunchEngine): Image['version'] {
  const tag = tagOf(word.text);
  const digest = word.text.indexOf('@');
  const tagAt = (digest === -1 ? word.text.length : digest) - tag.length;
  const own = engine.start.imageVersion;
  const found = own ? own.exec(tag) : (LEADING_VERSION.exec(tag) ?? versionAfter(engine.id).exec(tag));
  const text = found?.[1];
  if (!found || text === undefined || Number.parseInt(text, 10) >= 20) {
    return undefined;
  }
  const from = tagAt + found.index + found[0].indexOf(text);
  return { text, range: rangeOf(word, from, from + text.length) };
}
