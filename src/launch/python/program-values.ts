/** What expressions need of the program around them: its names, its environment, texts put together. */
import type { Node } from 'web-tree-sitter';
import { addPart, addUnit, builder, finish, type Mapped } from '../text/mapped';
import type { Scope } from './scope';
import { asText, type Given, nodeRange, type Placed, type Value } from './values';

export interface Program {
  readonly script: Mapped;
  scope: Scope;
  depth: number;
  /** `os.environ["X"] = …`. */
  readonly environment: Map<string, Placed>;
  /** Every call of something imported, and every call at all, is seen once it is known what it gets. */
  called(node: Node, path: string, given: Given): void;
  /** Runs a function of this file; gives what it returns. */
  enter(fn: Value & { readonly kind: 'function' }, given: Given, name: string): Value;
}

/** What the environment holds is not in the file, unless the program sets it. */
export function variable(p: Program, name: string | undefined, fallback?: Placed): Value {
  const set = name === undefined ? undefined : p.environment.get(name);
  const reason = `${name ?? 'it'} is an environment variable`;
  return set?.value ?? fallback?.value ?? { kind: 'unknown', reason, environment: true };
}

/** Text written here keeps its own place; what a name stands for has that of the name. */
export function joinedTexts(p: Program, node: Node, parts: readonly Placed[], separator = ''): Value {
  const b = builder();
  parts.forEach((part, i) => {
    if (i > 0 && separator !== '') {
      addUnit(b, separator, { start: part.range.start, end: part.range.start });
    }
    addJoined(b, p, part);
  });
  return { kind: 'text', text: finish(b, [], nodeRange(p.script, node)) };
}

function addJoined(b: ReturnType<typeof builder>, p: Program, part: Placed): void {
  const { value, range, layers } = part;
  const text = asText(value);
  if (value.kind === 'text' && (part.literal || /^-|\s/.test(value.text.text))) {
    const m =
      part.maybe === undefined
        ? value.text
        : { ...value.text, segments: value.text.segments.map((s) => ({ ...s, maybe: part.maybe })) };
    addPart(b, m, 0, m.text.length);
    return;
  }
  const why =
    value.kind === 'unknown' ? value.reason : text === undefined ? 'it is made when the program runs' : undefined;
  const written = text ?? `{${p.script.text.length > 0 ? 'unknown' : ''}}`;
  const outer = [...layers.slice(0, -1), { kind: 'python-word' as const, range }];
  addUnit(b, written, range, {
    outer,
    ...(why === undefined ? {} : { unresolved: why }),
    ...(part.maybe === undefined ? {} : { maybe: part.maybe }),
  });
}
