/** What a plan has to tell beyond its numbers: findings of every engine, then the engine's own. */
import { type Checked, EngineRefusal, type Finding, type Outcome, type Setting } from '../core/engines/engine';
import type { OptionValue } from '../core/engines/option';
import { formatBytes } from '../core/units';
import type { Ask } from './asks';
import { capacityFindings } from './capacity-findings';
import { withRemedies } from './remedies';
import { type RoadInput, roadOf } from './road';

/** The verdict's findings come first. A plan that is thrown away asks for no other settings, so it has fewer fixes. */
export function checked(outcome: Outcome, input: RoadInput, ask: Ask, scratch = false): readonly Finding[] {
  const { engine, asked, workload } = input;
  const { configuration, layout, budget, pool, verdict, capacity } = outcome;
  // Named one by one: spreading an outcome costs more here than all the checks.
  const checked: Checked = {
    configuration,
    layout,
    budget,
    pool,
    verdict,
    capacity,
    asked,
    workload,
    promptSaid: ask.has('prompt'),
    whatIf: (changes) => (scratch ? undefined : whatIf(input, changes)),
  };
  return [
    ...withRemedies(
      (outcome.verdict?.findings ?? []).map((f) => withShortage(f, budget)),
      checked,
      engine,
    ),
    ...capacityFindings(checked, engine),
    ...engine.checks(checked),
  ];
}

/** How much is lacking before the first block: an engine's own words do not say. */
function withShortage(finding: Finding, budget: Outcome['budget']): Finding {
  const most = budget?.kv.figure.range?.high ?? budget?.kv.figure.value ?? 0;
  if (finding.code !== 'no-kv-memory' || most >= 0) {
    return finding;
  }
  const message = `The weights and what is needed beside them do not fit: ${formatBytes(-most)} or more is lacking on each GPU, before any KV cache. ${finding.message}`;
  return { ...finding, message };
}

/** The same road with other settings; a setting of null is one that is not set. */
function whatIf(input: RoadInput, changes: Readonly<Record<string, OptionValue>>): Outcome | undefined {
  const settings: Setting[] = input.asked.settings.filter((s) => changes[s.name] === undefined);
  for (const [name, value] of Object.entries(changes)) {
    if (value !== null) {
      settings.push({ name, value, raw: String(value), origin: 'flag' });
    }
  }
  try {
    return roadOf({ ...input, asked: { ...input.asked, settings } });
  } catch (error) {
    if (error instanceof EngineRefusal) {
      return undefined;
    }
    throw error;
  }
}
