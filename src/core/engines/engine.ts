/** What every engine fills. An engine is one folder beside the others and one line in `index.ts`. */
import type { Capacity } from '../capacity/capacity';
import type { Figure, Origin } from '../figure';
import type { Gpu } from '../hardware/gpu';
import type { KvLayer, LayerKind, Model } from '../model/model';
import type { Estimate } from '../units';
import type { OptionSpec, OptionValue } from './option';
import type { StartWords, Usage } from './start-words';

/** One option as the launch gives it (or as the engine defaults it), without its place in the text. */
export interface Setting {
  /** Canonical long name without dashes. */
  readonly name: string;
  /** Absent when it cannot be known (`unresolved`) or is not a value the engine accepts (`error`). */
  readonly value?: OptionValue;
  /** As written. */
  readonly raw: string;
  readonly origin: 'file' | 'env' | 'directive' | 'flag' | 'default';
  /** How a default came about, where the engine derives it. */
  readonly how?: string;
  readonly line?: number;
  /** Why it cannot be known from the file. */
  readonly unresolved?: string;
  /** Why the engine will not take it. */
  readonly error?: string;
}

/** How the model is spread. `replicas` is the number of independent pools (data parallel). */
export interface Placement {
  readonly tensor: number;
  readonly pipeline: number;
  readonly data: number;
  readonly context: number;
  readonly expert: number;
  readonly attentionData: number;
  readonly replicas: number;
}

export interface EngineVersion {
  /** As shown: `0.28`. */
  readonly text: string;
  readonly origin: Origin;
  /** Said when the version is newer than the newest known, or between known ones. */
  readonly note?: string;
}

export interface Hardware {
  readonly gpu?: Gpu;
  readonly name: string;
  /** GPUs the file or the user offers to this launch; undefined = unknown. */
  readonly count?: number;
  /** Per GPU, as the driver reports it. */
  readonly memory: Estimate;
  readonly origin: Origin;
}

/** Estimated budget terms a directive, flag or setting replaces, and KV bytes when they are known. Bytes per GPU. */
export interface Given {
  readonly kvMemory?: number;
  readonly weights?: number;
  readonly activations?: number;
  readonly graphs?: number;
  readonly other?: number;
}

export interface Workload {
  readonly prompt: number;
  readonly output: number;
}

/** One group of layers that share a block table. */
export interface Group {
  readonly kind: LayerKind;
  /** Layers of this group on the deciding rank. */
  readonly layers: number;
  readonly dtype: string;
  /** Tokens per block. */
  readonly blockSize: number;
  /** Bytes of one block of this group: the sum of its layers' pages on the deciding rank. */
  readonly bytesPerBlock: number;
}

/** One pipeline stage's share. */
export interface Rank {
  readonly stage: number;
  readonly layers: number;
  /** Payload bytes one more token costs on one GPU of this stage. */
  readonly bytesPerToken: number;
  /** Payload bytes of one request's windows and states on one GPU of this stage. */
  readonly fixedBytes: number;
  readonly bytesPerBlock: number;
  /** What the engine's fit check takes for a block, where it differs. */
  readonly fitBytesPerBlock?: number;
}

/** KV layers arranged by an engine into groups, pages and blocks. Figures are of the deciding rank. */
export interface Layout {
  readonly allocator: 'blocks' | 'tokens' | 'cells' | 'slots';
  /** The option's value, and what the engine stores. */
  readonly dtype: { readonly key: string; readonly value: string };
  /** Tokens per block as the engine's config ends up with. */
  readonly blockSize: number;
  /** Tokens of a request that one slot on each GPU stands for: more than 1 under context parallelism. */
  readonly tokensPerSlot: number;
  readonly groups: readonly Group[];
  readonly ranks: readonly Rank[];
  /** Index into `ranks`: the one whose pool is smallest when every GPU has the same KV bytes. */
  readonly decidingRank: number;
  /** What the arrangement itself has to tell (padding). */
  readonly findings: readonly Finding[];
  readonly bytesPerToken: Figure;
  readonly bytesPerTokenTotal: Figure;
  readonly fixedBytes: Figure;
  readonly bytesPerBlock: Figure;
  /** Blocks one request of this many tokens holds in each group. */
  groupBlocks(tokens: number): readonly number[];
  /** Payload bytes of one request of this many tokens, per GPU. */
  payload(tokens: number): number;
  /** Payload bytes of one request of this many tokens over one whole replica, each head counted once. */
  wholePayload(tokens: number): number;
  /** What one request of this many tokens holds and why, per GPU; the parts add up to `reserved`. */
  hold(tokens: number): Hold;
  /** The same layout seen from another rank. */
  ofRank(rank: number): Layout;
}

/** Bytes one request sets aside, per GPU: reserved = payload + tail + padding + reservation. */
export interface Hold {
  readonly blocks: number;
  readonly reserved: number;
  readonly payload: number;
  /** Unfilled slots of the last blocks. */
  readonly tail: number;
  /** Pages and groups made equal. */
  readonly padding: number;
  /** Set aside for tokens that may never come (in flight, beyond a window). */
  readonly reservation: number;
}

/** The fixed set of equal blocks. */
export interface Pool {
  /** KV bytes that memory leaves on one GPU, where an option gives the pool another size. */
  readonly memory?: Estimate;
  /** Per GPU. Exact when given, else an estimate. */
  readonly bytes: Figure;
  readonly blocks: Figure;
  /** Blocks a request can ever get (the null block is not one). */
  readonly usableBlocks: number;
  /** Blocks by rank, in `Layout.ranks` order, with the KV bytes of each. */
  readonly ranks: readonly { readonly kvBytes: number; readonly blocks: number }[];
  readonly decidingRank: number;
  /** What this version prints of it; absent while the max length is unknown. */
  readonly logged?: Logged;
  /** Host memory that takes blocks, of one replica; absent when the launch asks for none. */
  readonly hostTier?: HostTier;
  /** Pools that the engine keeps apart; a request needs room in each. Absent: one pool for all groups. */
  readonly parts?: readonly PoolPart[];
  /** Most requests at once, where the engine derives it from the pool; stands in place of the configuration's. */
  readonly maxSequences?: Figure;
}

export interface PoolPart {
  /** `full attention`, `sliding windows`, `states`. */
  readonly name: string;
  readonly blocks: Figure;
  /** Blocks of it that no request gets. */
  readonly held?: number;
  /** Indices of the layout's groups whose blocks it holds. */
  readonly groups: readonly number[];
}

export interface HostTier {
  readonly bytes: Figure;
  readonly tokens: Figure;
}

export interface Logged {
  readonly tokens: Figure;
  /** Of requests of max length; absent where the engine prints none. */
  readonly maxConcurrency?: Figure;
  readonly lines: readonly string[];
}

export interface BudgetTerm {
  readonly figure: Figure;
  readonly why: string;
}

/** One GPU's memory (of the deciding rank). `limit` = what the engine may use of `total`. */
export interface Budget {
  /** KV bytes of each rank, in `Layout.ranks` order; `kv` is the deciding rank's. */
  readonly ranks: readonly Estimate[];
  readonly decidingRank: number;
  readonly total: Figure;
  readonly limit: Figure;
  readonly weights: BudgetTerm;
  readonly activations: BudgetTerm;
  readonly graphs: BudgetTerm;
  readonly other: BudgetTerm;
  readonly kv: BudgetTerm;
}

export type Severity = 'error' | 'warning' | 'information' | 'hint';

export interface Fix {
  readonly title: string;
  readonly option: string;
  readonly value: string;
  /** Options that only count together with it, by name: they are written in the same step. */
  readonly with?: Readonly<Record<string, string>>;
  /** An option that is written by a wrong name: it goes where `option` comes. */
  readonly replaces?: string;
  /** `option` is a key of a `kv-planner:` comment, and no option of the engine. */
  readonly directive?: true;
}

/** Something the reader should know. Severity follows certainty: error only when the engine will refuse. */
export interface Finding {
  readonly code: string;
  readonly severity: Severity;
  readonly message: string;
  /** The option it points at; its place is the launch's when the option is not written. */
  readonly option?: string;
  readonly fixes: readonly Fix[];
  /**
   * False for an error of ours (a model that is not known) that says nothing about whether the engine starts; `perhaps`
   * for what it refuses if we are right about its options or the machine.
   */
  readonly refuses?: false | 'perhaps';
}

/** `batchTokens` of an engine whose running requests are not limited by the tokens of a step. */
export const NO_STEP_LIMIT = Number.MAX_SAFE_INTEGER;

/** Options with the defaults of that version and hardware filled in. */
export interface Configuration {
  readonly version: EngineVersion;
  readonly placement: Placement;
  /** Written and defaulted settings, in table order. */
  readonly settings: readonly Setting[];
  /** Longest request the engine will accept; undefined when neither the file nor the model says. */
  readonly maxLength?: number;
  /** The engine picks the length itself (`auto`). */
  readonly autoLength: boolean;
  /** Undefined when the written value cannot be known. */
  readonly maxSequences?: number;
  readonly batchTokens: number;
  /** Tokens that a running request asks of one step: more than 1 where tokens are guessed ahead. */
  readonly tokensPerStep: number;
  /** KV layers that will run, draft layers included, in order. */
  readonly layers: readonly KvLayer[];
  readonly findings: readonly Finding[];
}

export interface ConfigureInput {
  readonly settings: readonly Setting[];
  readonly environment: ReadonlyMap<string, string>;
  /** Absent: the engine's own server. */
  readonly usage?: Usage;
  /** As the file, a directive or a flag names it; undefined = the newest known. */
  readonly version?: { readonly text: string; readonly origin: Origin };
  readonly model: Model;
  readonly draft?: Model;
  readonly hardware?: Hardware;
  readonly given: Given;
}

/** What the engine says when it starts with this pool, or why it will not. */
export interface StartVerdict {
  readonly starts: true | false | 'unknown';
  readonly findings: readonly Finding[];
  /** Largest max length that would start; with `range` when the pool is estimated. */
  readonly longestContext: Figure;
}

/** What one launch came to on its way through the engine. Parts are absent while the KV bytes are unknown. */
export interface Outcome<C extends Configuration = Configuration> {
  /** With the length that the engine picks, where it does. */
  readonly configuration: C;
  readonly layout: Layout;
  readonly budget?: Budget;
  readonly pool?: Pool;
  readonly verdict?: StartVerdict;
  readonly capacity?: Capacity;
}

/** For checks: the outcome, what was asked, and what other settings would have come to. */
export interface Checked<C extends Configuration = Configuration> extends Outcome<C> {
  readonly asked: ConfigureInput;
  readonly workload: Workload;
  /** Somebody said how long prompts are; else the workload is the usual one. */
  readonly promptSaid: boolean;
  /** The same launch with other settings (null takes one away); undefined when the engine refuses it. */
  whatIf(changes: Readonly<Record<string, OptionValue>>): Outcome<C> | undefined;
}

/** A launch this engine will refuse, or that is not covered: stated as findings, never guessed. */
export class EngineRefusal extends Error {
  constructor(readonly findings: readonly Finding[]) {
    super(findings.map((f) => f.message).join('\n'));
    this.name = 'EngineRefusal';
  }
}

/**
 * One engine. `C` is its own configuration. The road: `configure` → `layout` → `budget` → `pool` → `verdict`.
 * Each step is synchronous and pure; `configure` and `layout` throw `EngineRefusal`.
 */
export interface Engine<C extends Configuration = Configuration> {
  readonly id: string;
  readonly title: string;
  readonly options: readonly OptionSpec[];
  /** Variables that change the plan and have no option of their own; `name` is the variable. */
  readonly environment?: readonly OptionSpec[];
  readonly start: StartWords;
  /** Known versions, oldest first. */
  readonly versions: readonly string[];
  /** The draft model that runs beside, by id or path; its facts come to `configure`. */
  draftModel(settings: readonly Setting[]): string | undefined;
  configure(input: ConfigureInput): C;
  layout(model: Model, configuration: C): Layout;
  /** The pool's size follows from the options alone: the budget says whether it finds room, not how large it is. */
  readonly fixedPool?: true;
  /** What a name means in the engine's own library or way of naming files; undefined = it stands for itself. */
  modelName?(text: string): string | undefined;
  /** KV bytes that the launch itself states, per GPU; they replace the budget's (but for a fixed pool). */
  statedKvBytes(configuration: C): number | undefined;
  /** Undefined when an option that it needs is unknown. */
  budget(model: Model, configuration: C, layout: Layout, hardware: Hardware, given: Given): Budget | undefined;
  /** `kv` is per GPU, one for each rank of the layout; `origin` says where it came from. */
  pool(configuration: C, layout: Layout, kv: readonly Estimate[], origin: Origin): Pool;
  verdict(configuration: C, layout: Layout, pool: Pool): StartVerdict;
  /** What else the reader should know of a launch that has a layout. */
  checks(checked: Checked<C>): readonly Finding[];
}
