/** What a launch comes to when a fix is applied, and which fixes may be applied unseen. */
import type { Fix } from '../core/engines/engine';
import type { PlacedFinding, Plan } from '../planner';
import type { OptionChanges, TryOptions } from './alternatives';

export function withFix(plan: Plan, fix: Fix, tryOptions: TryOptions): Plan {
  return fix.directive ? tryOptions(plan, {}, { [fix.option]: fix.value }) : tryOptions(plan, changesOf(plan, fix));
}

function changesOf({ launch }: Plan, { option, value, replaces, with: others }: Fix): OptionChanges {
  const model = option === 'model' && launch.options.findLast((o) => o.spec?.role === 'model');
  const name = model ? model.name : option;
  return replaces === undefined ? { [name]: value, ...others } : { [replaces]: null, [name]: value };
}

/**
 * Fixes that change only what the engine refuses anyway: the first of each error, where the launch then starts for sure,
 * and what a refused value can only mean.
 */
export function safeFixes(plan: Plan, tryOptions: TryOptions): readonly Fix[] {
  const errors = plan.findings.filter((f) => f.severity === 'error' && f.refuses === undefined);
  return errors.flatMap((finding) => {
    const [first, ...others] = finding.fixes;
    if (!first) {
      return [];
    }
    const after = withFix(plan, first, tryOptions);
    const safe = finding.code === 'bad-value' ? others.length === 0 && isMended(after, finding) : after.starts === true;
    return safe ? [first] : [];
  });
}

const isMended = (after: Plan, { code, option }: PlacedFinding): boolean =>
  !after.findings.some((f) => f.code === code && f.option === option);
