/** The one road: text + hardware + workload → plans. Synchronous and pure; what comes from outside goes through ports. */
import type { Capacity, LengthPoint } from './core/capacity/capacity';
import type {
  Budget,
  Configuration,
  EngineVersion,
  Finding,
  Given,
  Hardware,
  Layout,
  Placement,
  Pool,
  Workload,
} from './core/engines/engine';
import type { Figure } from './core/figure';
import type { Model } from './core/model/model';
import type { DirectiveKey, Launch, LaunchOption, Problem, ReadInput, TextRange } from './launch/launch';

/** Where facts of a model come from beyond the catalogue: a config.json beside the file, a cache, the Hub. */
export interface ModelSource {
  /** The parsed JSON of `config.json` and its place; undefined = it has none. */
  config(modelText: string): { readonly json: unknown; readonly path: string } | undefined;
}

/** Flags of the command line or settings of the editor: the keys of a directive. */
export type Overrides = Partial<Record<DirectiveKey, string>>;

export interface PlanContext {
  readonly models?: ModelSource;
  /** Win over directives and file. */
  readonly flags?: Overrides;
  /** Used where neither file nor directive nor flag says. */
  readonly settings?: Overrides;
}

export interface PlacedFinding extends Finding {
  /** Always a place: the option's value, the model, or the head of the launch. */
  readonly range: TextRange;
  readonly line: number;
}

export interface KvPlan {
  readonly layout: Layout;
  /** Absent while KV bytes are unknown (no GPU). */
  readonly pool?: Pool;
  /** One request at max length, per GPU. */
  readonly atMaxLength?: { readonly payload: Figure; readonly reserved: Figure };
}

/** The answer for one launch. Parts are absent where what they need is unknown; a finding says what is missing. */
export interface Plan {
  readonly launch: Launch;
  readonly engine: { readonly id: string; readonly title: string; readonly version: EngineVersion };
  /** Written and defaulted options, as the JSON lists them. */
  readonly options: readonly (LaunchOption | Configuration['settings'][number])[];
  readonly model?: Model;
  readonly draft?: Model;
  readonly hardware?: Hardware;
  readonly placement?: Placement;
  readonly kv?: KvPlan;
  readonly budget?: Budget;
  readonly capacity?: Capacity;
  readonly workload: Workload;
  readonly given: Given;
  readonly starts: true | false | 'unknown';
  readonly findings: readonly PlacedFinding[];
  /** False when the launch could not be planned at all (exit 1): a finding of severity error says why. */
  readonly planned: boolean;
}

export interface PlanResult {
  readonly plans: readonly Plan[];
  readonly problems: readonly (Problem & { readonly line?: number })[];
  readonly needs: { readonly grammars: readonly 'bash'[]; readonly files: readonly string[] };
}

/** Reads the launches of a text and plans each. */
export declare function planText(input: ReadInput, context: PlanContext): PlanResult;

/** Requests that fit against context length, for the chart: memory alone, contiguous and paged. */
export declare function requestsByLength(plan: Plan): readonly LengthPoint[];
