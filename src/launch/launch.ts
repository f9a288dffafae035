/** A launch: one start of one engine, found in a file, with the place of everything that was read. */
import type { Setting } from '../core/engines/engine';
import type { OptionSpec } from '../core/engines/option';
import type { Usage } from '../core/engines/start-words';

/** UTF-16 offsets into the text as given; end exclusive. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

export type Form =
  | 'shell'
  | 'vllm-config'
  | 'sglang-config'
  | 'trtllm-config'
  | 'trtllm-engine'
  | 'srt-slurm'
  | 'compose'
  | 'kubernetes'
  | 'triton'
  | 'modelfile'
  | 'env-file'
  | 'systemd'
  | 'llama-preset'
  | 'llama-swap'
  | 'localai'
  | 'verl'
  | 'tabby'
  | 'python'
  | 'notebook'
  | 'dockerfile'
  | 'makefile'
  | 'justfile'
  | 'markdown'
  | 'powershell'
  | 'batch'
  | 'hcl'
  | 'cerebrium'
  | 'helm'
  | 'ray-serve'
  | 'skypilot'
  | 'ansible'
  | 'taskfile'
  | 'ci'
  | 'truss'
  | 'dstack'
  | 'bentoml';

export interface LaunchOption extends Setting {
  /** The row of the engine's table; absent for a flag the engine does not know. */
  readonly spec?: OptionSpec;
  /** Name and value together. */
  readonly range: TextRange;
  readonly nameRange: TextRange;
  /** Where the value stands; absent for a flag without a value and for what no file holds. */
  readonly valueRange?: TextRange;
  /** How the value is written, for edits; absent where it stands bare in the text. */
  readonly layers?: readonly Layer[];
  /** The option stands in another file; its ranges here are those of the word that names that file. */
  readonly from?: {
    readonly file: string;
    readonly range: TextRange;
    readonly line: number;
    /** Over what the command line says. */
    readonly wins?: true;
  };
}

/** A way of writing that stands between the text and a value; outermost first. `range` is all that is written so. */
export interface Layer {
  readonly kind: LayerKind;
  readonly range: TextRange;
}

export type LayerKind =
  | 'yaml-plain'
  /** A plain scalar that the engine reads as YAML 1.1 types. */
  | 'yaml-typed'
  | 'yaml-single'
  | 'yaml-double'
  | 'yaml-block'
  /** `$$` stands for `$`. */
  | 'compose'
  /** `$$(` stands for `$(`. */
  | 'kubernetes'
  | 'shell-bare'
  | 'shell-single'
  | 'shell-double'
  /** A variable's text, split at white space and read no further. */
  | 'shell-split'
  /** A heredoc in which the shell fills in variables. */
  | 'shell-heredoc'
  /** Between the quotes of a protobuf text field, or a bare word of one. */
  | 'pbtxt'
  /** A value of a JSON object. */
  | 'json'
  /** The rest of a line: nothing can be quoted. */
  | 'ini'
  /** A value of a `.env` file; the range includes its quotes. */
  | 'env-value'
  /** A line of a unit, whose `%` and `$` stand for something. */
  | 'systemd'
  /** Inside the quotes of a Python string; the range is the whole literal, so that its prefix and quotes can be seen. */
  | 'python-string'
  /** A Python expression that stands for a text, and one that stands for any value. */
  | 'python-word'
  | 'python-value'
  /** Written in several literals: no one place holds the value. */
  | 'pieces'
  /** `$$` stands for `$` in a Makefile. */
  | 'make'
  /** Between the commas of a call in a Makefile. */
  | 'make-argument'
  /** PowerShell: bare, in single quotes, in double quotes. */
  | 'ps-bare'
  | 'ps-single'
  | 'ps-double'
  /** Batch scripts: bare, in quotes. */
  | 'batch-bare'
  | 'batch-quoted'
  /** `$${` stands for `${`. */
  | 'hcl';

/** What a file says about the machine. */
export interface HardwareHint {
  readonly gpu?: { readonly text: string; readonly range: TextRange };
  readonly count?: { readonly value: number; readonly range: TextRange };
  /** Machines, where the launch runs on several and the file gives the GPUs of one by its type alone. */
  readonly nodes?: number;
}

/** Keys of a `# kv-planner:` comment (and of the command line's flags of the same names). */
export type DirectiveKey =
  | 'gpu'
  | 'gpus'
  | 'gpu-memory'
  | 'model'
  | 'model-config'
  | 'engine'
  | 'prompt'
  | 'output'
  | 'kv-memory'
  | 'weights'
  | 'activations'
  | 'graphs'
  | 'other';

export interface DirectiveEntry {
  readonly key: DirectiveKey;
  readonly value: string;
  readonly range: TextRange;
  readonly valueRange: TextRange;
}

export interface Launch {
  /** Name of the file as the caller gave it. */
  readonly file: string;
  readonly form: Form;
  /** Id of the engine. */
  readonly engine: string;
  /** As the file names it (an image tag, a pinned package); absent when it does not. */
  readonly version?: { readonly text: string; readonly range: TextRange };
  readonly role: 'serve' | 'prefill' | 'decode';
  /** A program drives the engine, not its own server. */
  readonly usage?: Usage;
  /** A client's command, which stands for a server where the file starts none. */
  readonly client?: 'loads' | 'names';
  /** How many of it the file starts side by side (`replicas` of a Deployment), each by itself; absent = one, or not said. */
  readonly copies?: number;
  /** A name for people: the compose service, the container, the script's function. */
  readonly title: string;
  /** The whole launch. */
  readonly range: TextRange;
  /** Where a lens or a finding without an option stands: the words that start the engine. */
  readonly head: TextRange;
  /** Every option as written; of repeated ones the last counts (`optionOf`). */
  readonly options: readonly LaunchOption[];
  /** The model as written. */
  readonly model?: { readonly text: string; readonly range: TextRange; readonly unresolved?: string };
  readonly environment: ReadonlyMap<string, string>;
  readonly hardware: HardwareHint;
  readonly directives: readonly DirectiveEntry[];
  /** What values are called here, by option: a Python binding takes 8 for `q8_0`. */
  readonly spellings?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** How an option that is not written can be added; absent where the form gives no place. */
  readonly insertion?: Insertion;
}

/** `text` holds `{name}` (or `{keyword}`: with underscores) and `{value}`; it is inserted at `at` as it stands. */
export interface Insertion {
  readonly at: number;
  readonly text: string;
  /** How the form spells names, where not as the engine does: `maxModelLen`, `max_model_len`. */
  readonly spelling?: Spelling;
  /** What `{value}` must be encoded for. */
  readonly layers?: readonly Layer[];
  /** Options that are called otherwise at this place. */
  readonly names?: Readonly<Record<string, string>>;
  /** Where the keys of a file's section go, by its name. */
  readonly sections?: Readonly<Record<string, Insertion>>;
  /** A section that is not there yet, with its first key: holds `{section}` as well. */
  readonly newSection?: string;
  /** Names that can stand at this place; absent = any. */
  readonly only?: RegExp;
}

export type Spelling = 'camel' | 'snake';

/** Something that could not be read. `range` absent = the whole file. */
export interface Problem {
  readonly file: string;
  readonly message: string;
  readonly range?: TextRange;
}

/** Files that a launch names (`--config`, `.env`, `env_file`), relative to the launch's file. Synchronous: the host fetches beforehand. */
export interface FileSource {
  /** The text; null when there is none; undefined when it has not been fetched yet. */
  read(path: string): string | null | undefined;
}

export interface ReadInput {
  readonly text: string;
  /** File name or path; its ending decides the form unless `form` is given. */
  readonly name: string;
  readonly form?: Form;
  readonly files?: FileSource;
  /** Loaded grammars; a reader that lacks one says so in `needs`. */
  readonly grammars?: Grammars;
}

export type GrammarName = 'bash' | 'powershell' | 'python';

/** Opaque here: `launch/grammar` knows the parser behind it. */
export interface Grammars {
  get(name: GrammarName): unknown;
}

export interface ReadResult {
  readonly launches: readonly Launch[];
  readonly problems: readonly Problem[];
  /** Not empty: fetch these and call again; the result so far is without them. */
  readonly needs: { readonly grammars: readonly GrammarName[]; readonly files: readonly string[] };
}

/** The option that counts: the last one of that name. */
export function optionOf(launch: Launch, name: string): LaunchOption | undefined {
  return launch.options.findLast((o) => o.name === name);
}
