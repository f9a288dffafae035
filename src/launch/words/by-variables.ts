/** Variables alone that start an engine: the command stands elsewhere, and they say what it will do. */
import type { LaunchEngine } from '../engines';
import { type Mapped, unresolvedIn } from '../text/mapped';
import { readArguments } from './arguments';
import { findStart } from './find-start';
import { splitWords } from './split';
import { type Found, NOTHING, started } from './start';
import { isTellingSpec } from './telling';
import type { Variable } from './variable';

/** The engine whose settings these variables are: its own prefix, or two that say what its cache is. */
export function engineOfVariables(
  names: readonly string[],
  engines: readonly LaunchEngine[],
): LaunchEngine | undefined {
  const scores = engines.map((engine) => {
    const known = engine.options.filter((o) => o.env !== undefined && names.includes(o.env) && o.effect !== undefined);
    const own = known.filter((o) => OWN_PREFIX.test(o.env as string));
    return { engine, own: own.length, known: known.length };
  });
  // Ollama hands some of llama.cpp's variables on: the engine with more of them is meant.
  const best = [...scores].sort((a, b) => b.known - a.known)[0];
  return best && (best.own > 0 || best.known >= 2) ? best.engine : undefined;
}

const OWN_PREFIX = /^(?:OLLAMA|LLAMA_ARG)_/;

/** `VLLM_EXTRA_ARGS="--max-model-len 8192"`: the flags of one engine, or a whole command. */
export function startInVariable({ name, value }: Variable, engines: readonly LaunchEngine[]): Found | undefined {
  if (!/(?:^|\s)--?[A-Za-z]/.test(value.text)) {
    return undefined;
  }
  const words = splitWords(value);
  const found = findStart(words, engines);
  if (found || !words[0]?.text.startsWith('-')) {
    return found;
  }
  const named = engines.filter((e) => e.start.names.some((n) => name.toLowerCase().includes(n.replace(/[^a-z]/g, ''))));
  const engine = (named.length > 0 ? named : engines).find((e) => areFlagsOf(e, words, named.length > 0));
  return engine && started(NOTHING, engine, value.extent, words, false);
}

/** All are this engine's, and one is of the kind that no other program has. */
function areFlagsOf(engine: LaunchEngine, words: readonly Mapped[], named: boolean): boolean {
  const input = { words, shell: true, text: '', line: () => 1 };
  const { options } = readArguments(input, engine, false);
  const known = options.filter((o) => o.spec !== undefined);
  return known.length === options.length
    ? known.some((o) => o.spec && (named || isTellingSpec(o.spec)))
    : named && known.some((o) => o.spec && isTellingSpec(o.spec));
}

/** The model that stands beside such flags. */
export function modelAmong(variables: readonly Variable[]): Variable | undefined {
  return variables.find(
    (v) =>
      /^(?:(?:VLLM|SGLANG|SGL|LLAMA|LLM|HF|SERVED?|TRTLLM|LMDEPLOY)_)?MODEL(?:_(?:ID|NAME|PATH))?$/.test(v.name) &&
      v.value.text !== '' &&
      unresolvedIn(v.value) === undefined,
  );
}

/** The variables that set an engine's options, by their names. */
export const variableNames = (engine: LaunchEngine): Readonly<Record<string, string>> =>
  Object.fromEntries(engine.options.flatMap((o) => (o.env === undefined ? [] : [[o.name, o.env]])));
