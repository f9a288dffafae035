/** What every form's reader gets and gives. */
import type { LaunchEngine } from './engines';
import type { Form, GrammarName, Insertion, Launch, LaunchOption, Problem, ReadInput, TextRange } from './launch';
import { type Lines, linesOf, plainEnds } from './lines';
import type { Mapped } from './text/mapped';
import type { Lookup } from './words/expand';
import type { Start, Surroundings } from './words/start';

/** One call of `readLaunches`. */
export interface Reading {
  readonly input: ReadInput;
  readonly text: string;
  readonly engines: readonly LaunchEngine[];
  /** Made when first asked for. */
  lines(): Lines;
  /** Files that this text writes itself (a heredoc), by path. */
  readonly written: Map<string, WrittenFile>;
  /** Versions this text installs (`pip install vllm==0.9.1`), by engine. */
  readonly pinned: Map<string, NonNullable<Launch['version']>>;
  /** The text of a file this one names; null when there is none, undefined when it must be fetched first. */
  file(path: string): string | null | undefined;
  /** The parser of a grammar; undefined when it must be loaded first. */
  grammar(name: GrammarName): unknown;
  problem(message: string, range?: TextRange): void;
  found(launch: Launch): void;
  /** Reads a text that stands in a block scalar of this one as a file of that name. */
  embedded(name: string, block: Mapped, surroundings: Surroundings): void;
  /** Reads part of the text as another form does: by the info string of a fence, or the language of a cell. */
  fenced(language: string, part: Mapped, form: Form, title: string): void;
  /** Whether a launch found so far stands on a line of this range. */
  touches(range: TextRange): boolean;
}

export interface WrittenFile {
  readonly body: Mapped;
  /** For variables that the shell fills in; absent where it leaves the text alone. */
  readonly lookup: Lookup | undefined;
}

/** A start with what its form adds. */
export interface Draft {
  readonly form: Form;
  readonly title: string;
  readonly range: TextRange;
  readonly start: Start;
  /** Words went through quoting; false for items of a list. */
  readonly shell: boolean;
  /** Made from the words when absent. */
  readonly insertion?: Insertion;
  /** Said by keys of the form; the words come after. */
  readonly options?: readonly LaunchOption[];
  /** The model, where the words do not name it, or only where it is mounted. */
  readonly model?: Launch['model'];
  readonly role?: Launch['role'];
  /** The host's path of a file that the launch sees at another. */
  readonly hostPath?: ((path: string) => string | undefined) | undefined;
}

export interface Collected {
  readonly launches: Launch[];
  readonly problems: Problem[];
  readonly grammars: Set<GrammarName>;
  readonly files: Set<string>;
}

type Embedded = (reading: Reading & Collected, ...of: Parameters<Reading['embedded']>) => void;
/** Reads a part of a text by another form: the list of forms knows which. */
export type ReadFenced = (reading: Reading, ...of: Parameters<Reading['fenced']>) => void;

/** Launches found by it are started that often. */
export const inCopies = (reading: Reading, copies: number | undefined): Reading =>
  copies === undefined || copies <= 1
    ? reading
    : { ...reading, found: (launch) => reading.found({ ...launch, copies }) };

export function startReading(
  input: ReadInput,
  engines: readonly LaunchEngine[],
  embedded: Embedded,
  readFenced: ReadFenced,
): Reading & Collected {
  const launches: Launch[] = [];
  const problems: Problem[] = [];
  const grammars = new Set<GrammarName>();
  const files = new Set<string>();
  const text = plainEnds(input.text);
  let lines: Lines | undefined;
  const reading: Reading & Collected = {
    launches,
    problems,
    grammars,
    files,
    input: text === input.text ? input : { ...input, text },
    text,
    engines,
    lines: () => {
      lines ??= linesOf(input.text);
      return lines;
    },
    written: new Map(),
    pinned: new Map(),
    file: (path) => {
      const text = input.files?.read(path);
      if (text === undefined) {
        files.add(path);
      }
      return typeof text === 'string' ? plainEnds(text) : text;
    },
    grammar: (name) => {
      const grammar = input.grammars?.get(name);
      if (grammar === undefined) {
        grammars.add(name);
      }
      return grammar;
    },
    problem: (message, range) => {
      problems.push({ file: input.name, message, range });
    },
    found: (launch) => {
      launches.push(launch);
    },
    embedded: (...of) => embedded(reading, ...of),
    fenced(...of) {
      readFenced(this, ...of);
    },
    touches: (range) => {
      lines ??= linesOf(input.text);
      const [first, last] = [lines.line(range.start), lines.line(range.end)];
      return launches.some(
        (l) => first <= (lines?.line(l.range.end) ?? 0) && last >= (lines?.line(l.range.start) ?? 0),
      );
    },
  };
  return reading;
}
