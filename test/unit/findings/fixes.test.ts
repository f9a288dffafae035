/** Every fix of every finding in the fixtures: applied, the finding is gone, and nothing else of the file has changed. */
import { describe, expect, test } from 'vitest';
import { editFix } from '../../../src/launch/edit';
import { type Plan, type PlanContext, type PlanResult, planText } from '../../../src/planner';
import { tryingOn } from '../../../src/planner/alternatives';
import { safeFixes } from '../../../src/planner/fix-effects';
import { apply } from '../launch/edits';
import { FIXTURES, type Fixture } from '../launch/fixtures';
import { loadedGrammars, readFully } from '../launch/support';

const CONTEXTS: readonly PlanContext[] = [
  {},
  { settings: { gpu: 'L4', gpus: '1' } },
  { settings: { gpu: 'H100-80GB', gpus: '8' } },
];

/** Plans texts as if they stood where the fixture stands. */
async function planner({ name, text, given }: Fixture): Promise<(text: string, context: PlanContext) => PlanResult> {
  await readFully(text, name, given);
  const grammars = loadedGrammars();
  const files = { read: (path: string) => given.files?.[path] ?? null };
  return (other, context) => planText({ text: other, name, files, ...(grammars && { grammars }) }, context);
}

const names = ({ plans }: PlanResult): readonly string[] => plans.map((p) => `${p.launch.engine} ${p.launch.title}`);
const errors = (plan: Plan | undefined): number => plan?.findings.filter((f) => f.severity === 'error').length ?? 0;

describe.each(FIXTURES)('$name', (fixture) => {
  test('each fix takes its finding away and brings no error', async () => {
    const plan = await planner(fixture);
    for (const context of CONTEXTS) {
      const before = plan(fixture.text, context);
      const launches = before.plans.map((p) => p.launch);
      for (const [at, one] of before.plans.entries()) {
        for (const { finding, fix } of one.findings.flatMap((f) => f.fixes.map((x) => ({ finding: f, fix: x })))) {
          const edits = editFix(one.launch, fixture.text, fix, launches);
          const after = edits.length > 0 ? plan(apply(fixture.text, edits), context) : undefined;
          if (after) {
            const what = `${finding.code}: ${fix.title}\n${finding.message}`;
            const same = (f: Plan['findings'][number]) => f.code === finding.code && f.option === finding.option;
            expect(names(after), what).toEqual(names(before));
            expect(after.plans[at]?.findings.find(same)?.message, what).toBeUndefined();
            expect(errors(after.plans[at]), what).toBeLessThanOrEqual(errors(one));
          }
        }
      }
    }
  });

  test('all safe fixes at once leave nothing to fix safely', async () => {
    const plan = await planner(fixture);
    for (const context of CONTEXTS) {
      const safe = (text: string) => {
        const { plans } = plan(text, context);
        const tryOptions = tryingOn(text, context);
        const launches = plans.map((p) => p.launch);
        return plans.flatMap((p) => safeFixes(p, tryOptions).flatMap((fix) => editFix(p.launch, text, fix, launches)));
      };
      expect(safe(apply(fixture.text, safe(fixture.text)))).toEqual([]);
    }
  });
});
