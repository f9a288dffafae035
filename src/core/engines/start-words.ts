/** How a person starts an engine: what `launch` looks for in a file. */
import type { OptionValue } from './option';

export interface StartWords {
  /** One of them stands in every text that starts it: how a text is passed over before anything is loaded. */
  readonly names: readonly string[];
  /** Leading words of a command, by basename: `['vllm', 'serve']`. */
  readonly commands: readonly (readonly string[])[];
  /** A command of a name that others have as well: this engine's where one of its words is such. */
  readonly commonCommand?: { readonly name: string; readonly beside: RegExp };
  /** Words after `python -m`: a module, and its sub-command where it needs one. */
  readonly modules: readonly string[];
  /** Container images, matched against the name without tag and registry: `vllm/vllm-openai`. */
  readonly images: readonly RegExp[];
  /** The version in an image's tag, as its first group, where tags are not plain versions. */
  readonly imageVersion?: RegExp;
  /** What an image's own entry point already says, so that its arguments are options at once. */
  readonly imageEntry: readonly string[];
  /** Images, by their tags, whose entry point starts it only where the first word (empty: none) is one of these. */
  readonly imageFirst?: readonly { readonly tag: RegExp; readonly word: RegExp }[];
  /** The option that names the model, and whether it may be the first positional argument. */
  readonly modelOption: string;
  readonly positionalModel: boolean;
  /** Commands that ask a running server for a model, which is their first word: `loads` starts it where none runs. */
  readonly clients?: readonly { readonly words: readonly string[]; readonly loads: boolean }[];
  /** All settings are environment variables: the command takes no options. */
  readonly byEnvironment?: true;
  /** What `backend` of a Triton model's config.pbtxt calls it. */
  readonly tritonBackends?: readonly string[];
  /** What starts it in a Python program. */
  readonly python?: readonly PythonCall[];
  /** Servers of Python bindings, by the module that is run: their flags are the binding's keywords. */
  readonly bindings?: readonly Binding[];
  /** A flag is never written as the beginning of its name: its command line is not argparse's. */
  readonly exactFlags?: true;
  /** Words after a command that make it something else than a server. */
  readonly otherCommands?: readonly string[];
  /** The option that names a file of options, if the engine has one. */
  readonly configOption?: string;
  /** How that file is read: also as `--config=FILE`, and over what the command line says. Neither where absent. */
  readonly configRules?: { readonly attached?: boolean; readonly wins?: boolean };
}

/** A class or function that starts an engine in a Python program: its keywords are options. */
export interface PythonCall {
  /** First part of the module it is imported from: `vllm`. */
  readonly module: string;
  /** Its name, or `Class.method`. */
  readonly names: readonly string[];
  /** Options that arguments without a keyword stand for. */
  readonly positional?: readonly string[];
  /** Keywords that are called otherwise than their option; a key inside an object is dotted. */
  readonly keywords?: Readonly<Record<string, string>>;
  /** Keywords whose object (or map) holds options of its own. */
  readonly holders?: readonly string[];
  /** Only keywords named here are options. */
  readonly only?: true;
  /** Values that are written otherwise than on the command line, by option: `cache-type-k` 8 is `q8_0`. */
  readonly values?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** What holds where a keyword is not given, where that is not the server's own default. */
  readonly defaults?: Readonly<Record<string, OptionValue>>;
  /** A keyword that names the GPU. */
  readonly gpu?: string;
  /** Where the engine has other defaults for it than for its server. */
  readonly usage?: Usage;
}

/** A server around a binding: every flag takes a value, and a variable of its name in capitals says the same. */
export interface Binding extends Pick<PythonCall, 'keywords' | 'values' | 'defaults'> {
  /** One of `modules`. */
  readonly module: string;
  /** Images whose entry point starts it. */
  readonly images: RegExp;
  /** With that keyword, `file` names no model but a file of that repository, and is read as the keyword `as`. */
  readonly repository?: { readonly keyword: string; readonly file: string; readonly as: string };
}

/** Who drives the engine, where that is not its own server: a program with all its prompts at hand, or any other program. */
export type Usage = 'offline' | 'embedded';
