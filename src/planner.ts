/** The one road: text + hardware + workload → plans. Synchronous and pure; what comes from outside goes through ports. */
import type { Capacity, LengthPoint } from './core/capacity/capacity';
import { requestsAt, requestsByLength as sweepLengths } from './core/capacity/compute';
import { ENGINES, engineOf } from './core/engines';
import {
  type Budget,
  type Configuration,
  type Engine,
  EngineRefusal,
  type EngineVersion,
  type Finding,
  type Given,
  type Hardware,
  type Layout,
  type Outcome,
  type Placement,
  type Pool,
  type Workload,
} from './core/engines/engine';
import { openCatalogue } from './core/model/catalogue';
import type { KvLayer, Model } from './core/model/model';
import { readSteps } from './launch';
import type { DirectiveKey, GrammarName, Launch, LaunchOption, Problem, ReadInput, TextRange } from './launch/launch';
import { type Lines, linesOf } from './launch/lines';
import { atOnce, type Steps } from './launch/steps';
import { type Ask, asksOf, givenOf, hardwareOf, versionOf, workloadOf, workloadOrigins } from './planner/asks';
import { type AtLength, atMaxLength } from './planner/at-length';
import { checked } from './planner/checks';
import { withFileFindings } from './planner/file-findings';
import { type Located, optionFindings, placeFindings, placementFindings } from './planner/findings';
import { type Answered, remembered } from './planner/memory';
import { modelOf, namedModel } from './planner/models';
import { type RoadInput, roadOf } from './planner/road';
import { withValueFixes } from './planner/value-fixes';

/** Where facts of a model come from beyond the catalogue: a config.json beside the file, a cache, the Hub. */
export interface ModelSource {
  /** The parsed JSON of `config.json`, its place, and the index of its weights if there is one; undefined = it has none. */
  config(modelText: string): { readonly json: unknown; readonly path: string; readonly index?: unknown } | undefined;
  /** The first bytes of a GGUF file, enough to hold its header, and of its further parts where it is split. */
  gguf?(modelText: string): { readonly parts: readonly Uint8Array[]; readonly path: string } | undefined;
  /** What was downloaded before: asked only for what the catalogue does not know. */
  cached?(modelText: string): ModelFacts | undefined;
}

/** Facts of a model as its own files give them. The same object each time they are the same: plans are remembered by it. */
export interface ModelFacts {
  /** For a reader: `Hugging Face cache, owner/name@0e9e39f2`. */
  readonly path: string;
  /** Of `config.json`; absent where a GGUF file says it all. */
  readonly json?: unknown;
  /** Bytes of the weights, and how they are known. */
  readonly weights?: { readonly bytes: number; readonly why: string };
  /** First bytes of a GGUF file and its further parts. */
  readonly parts?: readonly Uint8Array[];
}

/** Flags of the command line or settings of the editor: the keys of a directive. */
export type Overrides = Partial<Record<DirectiveKey, string>>;

export interface PlanContext {
  readonly models?: ModelSource;
  /** Win over directives and file. */
  readonly flags?: Overrides;
  /** Used where neither file nor directive nor flag says. */
  readonly settings?: Overrides;
  /** Tried and thrown away: findings that need other settings to be tried are left out. */
  readonly scratch?: boolean;
  /** Stands in place of the model that a launch names: for a comparison of engines. */
  readonly model?: Model;
  /** One launch of the text is planned as if it were written otherwise. */
  readonly tried?: Tried;
}

export interface Tried {
  /** Which of the text's launches. */
  readonly at: number;
  readonly change: (launch: Launch) => Launch;
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
  /** One request at max length (`tokens`), per GPU. */
  readonly atMaxLength?: AtLength;
}

/** The answer for one launch. Parts are absent where what they need is unknown; a finding says what is missing. */
export interface Plan {
  readonly launch: Launch;
  readonly engine: { readonly id: string; readonly title: string; readonly version: EngineVersion };
  /** Written and defaulted options, as the JSON lists them. */
  readonly options: readonly (LaunchOption | Configuration['settings'][number])[];
  readonly model?: Model;
  readonly draft?: Model;
  /** KV layers that run, those of a draft or MTP head included. */
  readonly layers?: readonly KvLayer[];
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
  readonly needs: { readonly grammars: readonly GrammarName[]; readonly files: readonly string[] };
}

/** Reads the launches of a text and plans each. */
export const planText = (input: ReadInput, context: PlanContext): PlanResult => atOnce(planSteps(input, context));

/** The same in steps: those of reading, the catalogue's, and one for each launch. */
export function* planSteps(input: ReadInput, context: PlanContext): Steps<PlanResult> {
  const read = yield* readSteps(input, ENGINES);
  const lines = linesOf(input.text);
  const { tried } = context;
  const plans: Plan[] = [];
  if (read.launches.length > 0) {
    yield;
    openCatalogue();
  }
  for (const [at, launch] of read.launches.entries()) {
    yield;
    plans.push(planLaunch(tried?.at === at ? tried.change(launch) : launch, lines, context));
  }
  return {
    plans: withFileFindings(plans, input.text, lines),
    problems: read.problems.map((p) => ({ ...p, line: p.range && lines.line(p.range.start) })),
    needs: read.needs,
  };
}

/** Requests that fit against context length, memory alone, contiguous and paged: at these lengths, or as many as a chart needs. */
export function requestsByLength(plan: Plan, lengths?: readonly number[]): readonly LengthPoint[] {
  const { kv, capacity, workload } = plan;
  if (!kv?.pool || !capacity) {
    return [];
  }
  const sizes = { layout: kv.layout, pool: kv.pool, maxLength: capacity.maxLength, workload };
  return lengths ? requestsAt(sizes, lengths) : sweepLengths(sizes);
}

/** What is known of a launch before its engine is asked. */
interface Start {
  readonly launch: Launch;
  readonly engine: Engine<Configuration>;
  readonly ask: Ask;
  readonly hardware?: Hardware;
  readonly workload: Workload;
  readonly given: Given;
  readonly found: Located[];
}

/** Plans one launch; `lines` are those of the text that it stands in. */
export function planLaunch(launch: Launch, lines: Lines, context: PlanContext): Plan {
  const engine = engineOf(launch.engine) as Engine<Configuration>;
  const found: Located[] = [];
  const ask = asksOf(launch, lines, context);
  const start: Start = {
    launch,
    engine,
    ask,
    hardware: hardwareOf(launch, ask, found),
    workload: workloadOf(ask, found),
    given: givenOf(ask, found),
    found,
  };
  const { answer, refused } = answerOf(start, context);
  const findings = placeFindings(launch, withValueFixes(launch, found), lines);
  const failed = refused || findings.some((f) => f.code === 'bad-value');
  return {
    launch,
    engine: { id: engine.id, title: engine.title, version: answer.version },
    options: answer.parts.options ?? launch.options,
    hardware: start.hardware,
    workload: start.workload,
    given: start.given,
    model: answer.parts.model,
    draft: answer.parts.draft,
    layers: answer.parts.layers,
    placement: answer.parts.placement,
    kv: answer.parts.kv,
    budget: answer.parts.budget,
    capacity: answer.parts.capacity,
    starts: startsOf(answer.starts, findings),
    findings,
    planned: answer.parts.kv !== undefined && !failed,
  };
}

/** A certain refusal outweighs what the pool says; a doubtful one leaves it open. */
function startsOf(starts: Plan['starts'], findings: readonly PlacedFinding[]): Plan['starts'] {
  if (findings.some((f) => f.severity === 'error' && f.refuses !== false)) {
    return false;
  }
  return starts === true && findings.some((f) => f.refuses === 'perhaps') ? 'unknown' : starts;
}

/** A fault of ours must not take the file's other launches with it. */
const defect = (error: unknown): Finding => ({
  code: 'defect',
  severity: 'error',
  message: `KV Planner failed on this launch, which is a defect of its own: ${error instanceof Error ? error.message : String(error)}`,
  fixes: [],
  refuses: false,
});

interface Answer {
  readonly version: EngineVersion;
  readonly starts: Plan['starts'];
  readonly parts: Partial<
    Pick<Plan, 'model' | 'draft' | 'layers' | 'placement' | 'options' | 'kv' | 'budget' | 'capacity'>
  >;
}

function answerOf(start: Start, context: PlanContext): { readonly answer: Answer; readonly refused: boolean } {
  const { launch, engine, ask, found } = start;
  const asked = versionOf(launch, ask, engine, found);
  const unversioned: EngineVersion = {
    text: asked?.text ?? (engine.versions.at(-1) as string),
    origin: asked?.origin ?? { kind: 'default', text: 'newest known version' },
  };
  const model = context.model ?? modelOf(launch, ask, context.models, engine, found);
  if (!model) {
    return { answer: { version: unversioned, starts: 'unknown', parts: {} }, refused: true };
  }
  const draftName = engine.draftModel(launch.options);
  const draft = draftName === undefined ? undefined : namedModel(draftName, context.models, engine);
  try {
    const { hardware, given, workload } = start;
    const { options: settings, environment, role, usage } = launch;
    const input: RoadInput = {
      engine,
      asked: { settings, environment, usage, version: asked, model, draft, hardware, given },
      workload,
      role,
      givenKv: ask.get('kv-memory')?.origin,
      workloadOrigins: workloadOrigins(ask),
    };
    const answer = (): Answered => {
      const outcome = roadOf(input);
      const tells = checked(outcome, input, ask, context.scratch);
      return { outcome, tells, atMaxLength: atMaxLength(outcome, engine) };
    };
    const answered = context.scratch ? answer() : remembered(input, ask, answer);
    return { answer: planned(start, answered, input), refused: false };
  } catch (error) {
    if (!(error instanceof EngineRefusal)) {
      found.push({ finding: defect(error) });
      return { answer: { version: unversioned, starts: 'unknown', parts: { model, draft } }, refused: true };
    }
    found.push(...error.findings.map((finding) => ({ finding })));
    return { answer: { version: unversioned, starts: 'unknown', parts: { model, draft } }, refused: true };
  }
}

function planned(start: Start, { outcome, tells, atMaxLength }: Answered, input: RoadInput): Answer {
  const { launch, engine, hardware, found } = start;
  const { model, draft } = input.asked;
  const { configuration, layout, budget, pool, verdict, capacity } = outcome;
  found.push(
    ...[...configuration.findings, ...layout.findings].map((finding) => ({ finding })),
    ...optionFindings(launch, engine, configuration.version.text),
    ...placementFindings(launch, configuration.placement, hardware),
    ...unknownFindings(start, model, outcome),
    ...tells.map((finding) => ({ finding })),
  );
  return {
    version: configuration.version,
    starts: verdict?.starts ?? 'unknown',
    parts: {
      model,
      draft,
      layers: configuration.layers,
      placement: configuration.placement,
      options: [...launch.options, ...configuration.settings.filter((s) => s.origin === 'default')],
      budget,
      kv: {
        layout,
        pool,
        atMaxLength,
      },
      capacity,
    },
  };
}

/** What is missing for an answer in blocks. */
function unknownFindings(
  { engine, hardware, given, ask }: Start,
  model: Model,
  { pool, budget, layout }: Outcome,
): readonly Located[] {
  const onHost = layout.findings.some((f) => f.code === 'kv-on-host');
  const unheld = engine.fixedPool === true && !budget && given.kvMemory === undefined && !onHost;
  if (pool && !unheld) {
    return [];
  }
  if (!hardware && !ask.has('gpu')) {
    const missing = unheld ? 'whether the caches find room is not known' : 'blocks and requests are not';
    const message = `The GPU is not known, so ${missing} either. Say it in a comment, \`# kv-planner: gpu=H100-80GB\`, or set it for the workspace.`;
    return [{ finding: { code: 'gpu-unknown', severity: 'information', message, fixes: [] } }];
  }
  if (hardware && !model.weights) {
    const message = `The weight bytes of ${model.id} are not known, so the KV budget is not either. Say \`# kv-planner: kv-memory=…\` from a start-up log.`;
    return [{ finding: { code: 'weights-unknown', severity: 'information', message, option: 'model', fixes: [] } }];
  }
  return [];
}
