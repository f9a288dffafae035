/** One model and one launch on several engines, side by side: options translated by what they decide, each planned on the one road. */

import { type Difference, differencesOf, type Planned } from './compare/differences';
import type { Carried, LeftOut } from './compare/translate';
import { translate } from './compare/translate';
import { engineOf } from './core/engines';
import type { Engine } from './core/engines/engine';
import type { Launch, Problem, ReadInput } from './launch/launch';
import { type Lines, linesOf } from './launch/lines';
import { type Overrides, type Plan, type PlanContext, type PlanResult, planLaunch, planText } from './planner';

export type { Topic } from './compare/differences';

/** `vllm`, or `vllm@0.21`. */
export interface EngineAsked {
  readonly id: string;
  readonly version?: string;
}

export interface ComparedEngine {
  readonly plan: Plan;
  /** The file's own engine and version: the one that others are held against. */
  readonly asWritten: boolean;
  readonly carried: readonly Carried[];
  readonly leftOut: readonly LeftOut[];
  /** Against the launch as it is written. */
  readonly differences: readonly Difference[];
}

export interface Compared {
  /** The launch as it is written. */
  readonly plan: Plan;
  /** It comes first; the others in the order asked for. */
  readonly engines: readonly ComparedEngine[];
}

export interface CompareResult {
  readonly compared: readonly Compared[];
  readonly problems: readonly (Problem & { readonly line?: number })[];
  readonly needs: PlanResult['needs'];
}

/** Compares each launch of a text. Engines that are not known are left out. */
export function compareEngines(asked: readonly EngineAsked[], input: ReadInput, context: PlanContext): CompareResult {
  const { plans, problems, needs } = planText(input, context);
  const lines = linesOf(input.text);
  return { compared: plans.map((plan) => compared(asked, plan, lines, context)), problems, needs };
}

function compared(asked: readonly EngineAsked[], plan: Plan, lines: Lines, context: PlanContext): Compared {
  const source = engineOf(plan.engine.id) as Engine;
  const base: Planned = { plan, options: source.options };
  const first: ComparedEngine = { plan, asWritten: true, carried: [], leftOut: [], differences: [] };
  const others = asked.flatMap(({ id, version }) => {
    const target = engineOf(id) as Engine | undefined;
    const same = id === source.id && (version === undefined || version === plan.engine.version.text);
    return !target || same || !plan.model ? [] : [onEngine(target, version, base, source, lines, context)];
  });
  return { plan, engines: [first, ...others] };
}

function onEngine(
  target: Engine,
  version: string | undefined,
  base: Planned,
  source: Engine,
  lines: Lines,
  context: PlanContext,
): ComparedEngine {
  const { launch } = base.plan;
  const same = target.id === source.id;
  const newest = target.versions.at(-1) as string;
  const translated = same
    ? { options: launch.options, carried: [], leftOut: [] }
    : translate(launch, source, target, version ?? newest);
  const moved = same ? launch : launchOn(target, launch, translated.options);
  const plan = planLaunch(moved, lines, {
    ...context,
    model: base.plan.model,
    flags: flagsFor(context.flags, target, version),
  });
  return {
    plan,
    asWritten: false,
    carried: translated.carried,
    leftOut: translated.leftOut,
    differences: differencesOf(base, { plan, options: target.options }),
  };
}

/** Terms of the budget that somebody stated hold for the engine that they were read from. */
const OWN_TERMS: ReadonlySet<string> = new Set(['engine', 'activations', 'graphs', 'other']);

/** The same place in the file, started by another engine. Its environment says nothing to that one. */
function launchOn(target: Engine, launch: Launch, options: Launch['options']): Launch {
  const { version: _, insertion: __, ...rest } = launch;
  return {
    ...rest,
    engine: target.id,
    options,
    environment: new Map(),
    directives: launch.directives.filter((d) => !OWN_TERMS.has(d.key)),
  };
}

function flagsFor(flags: Overrides | undefined, target: Engine, version: string | undefined): Overrides {
  const kept = Object.entries(flags ?? {}).filter(([key]) => !OWN_TERMS.has(key));
  return { ...Object.fromEntries(kept), ...(version === undefined ? {} : { engine: `${target.id}@${version}` }) };
}
