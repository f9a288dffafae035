/** One setting of an engine, described once: the row feeds the reader, the plan, the hover, completion and the docs. */

export type OptionValue =
  | string
  | number
  | boolean
  | null
  | readonly OptionValue[]
  | { readonly [key: string]: OptionValue };

export type OptionType =
  /** Plain integer. */
  | 'int'
  /** Integer with the suffixes this engine reads. */
  | 'human-int'
  | 'float'
  | 'string'
  | 'enum'
  /** `--x` / `--no-x`, no value. */
  | 'flag'
  | 'json'
  /** Takes words up to the next flag. */
  | 'list';

export type OptionUnit = 'tokens' | 'bytes' | 'GiB' | 'GB' | 'share' | 'requests' | 'blocks' | 'layers' | 'GPUs';

/** What an option decides, in any engine's words: lets a face say what it does to a plan without knowing the engine. */
export type OptionRole =
  | 'model'
  | 'max-length'
  | 'memory-share'
  | 'kv-memory'
  | 'kv-dtype'
  | 'block-size'
  | 'tensor'
  | 'pipeline'
  | 'data'
  | 'max-sequences'
  | 'batch-tokens';

/** A default from a version on; rows are oldest first and the last one that applies wins. */
export interface DefaultRow {
  /** First version it holds for; absent = from the first known. */
  readonly since?: string;
  /** Absent when the default is derived: then `text` says how. */
  readonly value?: OptionValue;
  readonly text?: string;
}

export interface OptionSpec {
  /** Long flag without dashes: the canonical name. */
  readonly name: string;
  /** Other long flags, without dashes. */
  readonly aliases?: readonly string[];
  /** Short forms with their dash: `-tp`. */
  readonly short?: readonly string[];
  readonly type: OptionType;
  readonly values?: readonly string[];
  /** Words accepted beside the type: `auto`. */
  readonly words?: readonly string[];
  readonly unit?: OptionUnit;
  /** Inclusive bounds; `above` is an exclusive lower one. */
  readonly min?: number;
  readonly above?: number;
  readonly max?: number;
  readonly defaults: readonly DefaultRow[];
  readonly role?: OptionRole;
  /** Environment variable that sets it. */
  readonly env?: string;
  readonly since?: string;
  /** First version without it. */
  readonly until?: string;
  /** One sentence: what it is. */
  readonly summary: string;
  /** One sentence: what it does to the KV cache; absent when nothing. */
  readonly effect?: string;
  /** Engine file and version the row was read from. */
  readonly source: string;
  /** Reads the text of a value where the type's own reading is not this engine's. */
  readonly read?: (text: string) => OptionReading;
}

export type OptionReading = { readonly value: OptionValue } | { readonly error: string };
