/**
 * A text that has not changed is not read again, as long as the files and grammars it asked for are what they were.
 * Nobody can tell but by the clock.
 */
import type { LaunchEngine } from './engines';
import type { GrammarName, ReadInput, ReadResult } from './launch';
import type { Steps } from './steps';

interface Kept {
  readonly input: Pick<ReadInput, 'text' | 'name' | 'form'>;
  readonly engines: readonly LaunchEngine[];
  readonly asked: Asked;
  readonly result: ReadResult;
  /** Somebody has asked for it a second time. */
  isWanted: boolean;
}

/** What a reading was told from outside; absent where it asked for nothing. */
interface Asked {
  files?: Map<string, string | null | undefined>;
  grammars?: Map<GrammarName, unknown>;
}

/** As many files as somebody looks at by turns, and no more text than this. */
const MOST = 32;
const MOST_CHARACTERS = 4 * 1024 * 1024;

/** The latest first. */
let kept: readonly Kept[] = [];

export function* remembered(
  input: ReadInput,
  engines: readonly LaunchEngine[],
  read: (input: ReadInput) => Steps<ReadResult>,
): Steps<ReadResult> {
  const known = kept.find((k) => isSame(k, input, engines));
  if (known) {
    known.isWanted = true;
    keep(known);
    return known.result;
  }
  const asked: Asked = {};
  const result = yield* read(overheard(input, asked));
  const { text, name, form } = input;
  keep({ input: { text, name, form }, engines, asked, result, isWanted: false });
  return result;
}

/** The same input; what is asked of its ports is written down. */
function overheard(input: ReadInput, asked: Asked): ReadInput {
  const { text, name, form } = input;
  return {
    text,
    name,
    form,
    files: {
      read(path) {
        const found = input.files?.read(path);
        asked.files ??= new Map();
        asked.files.set(path, found);
        return found;
      },
    },
    grammars: {
      get(name) {
        const grammar = input.grammars?.get(name);
        asked.grammars ??= new Map();
        asked.grammars.set(name, grammar);
        return grammar;
      },
    },
  };
}

function isSame({ input, engines, asked }: Kept, now: ReadInput, withEngines: readonly LaunchEngine[]): boolean {
  return (
    input.name === now.name &&
    input.form === now.form &&
    engines === withEngines &&
    input.text === now.text &&
    [...(asked.files ?? [])].every(([path, text]) => now.files?.read(path) === text) &&
    [...(asked.grammars ?? [])].every(([grammar, parser]) => now.grammars?.get(grammar) === parser)
  );
}

/**
 * It takes the place of what was read of that file before, but for the last that somebody wanted twice: what is read
 * while somebody types never comes back, and to keep it costs more than to read it.
 */
function keep(one: Kept): void {
  if (kept[0] === one) {
    return;
  }
  const rivals = kept.filter((k) => k !== one && k.input.name === one.input.name);
  const wanted = rivals.find((k) => k.isWanted);
  const others = kept.filter((k) => k !== one && (k === wanted || !rivals.includes(k)));
  let left = MOST_CHARACTERS;
  kept = [one, ...others].slice(0, MOST).filter(({ input }) => {
    left -= input.text.length;
    return left >= 0;
  });
}
