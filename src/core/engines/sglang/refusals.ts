/** What SGLang refuses before it looks at memory, what is not planned here, and what is planned by an unsure rule. */
import type { KvLayer, Model } from '../../model/model';
import { EngineRefusal, type Finding, type Fix } from '../engine';
import type { SglangRules } from './versions';

export const refusal = (code: string, message: string, option?: string, fixes: readonly Fix[] = []): Finding => ({
  code,
  severity: 'error',
  message,
  option,
  fixes,
});

/** A rule that holds roughly, or was read and never seen in a log. */
export const approximate = (message: string, option?: string): Finding => ({
  code: 'approximate',
  severity: 'information',
  message,
  option,
  fixes: [],
});

/** A value that is not accepted leaves the layout alone unless the layout hangs on it. */
export function refuseWhen(findings: readonly Finding[], blocked: boolean): void {
  if (blocked || findings.some((f) => f.severity === 'error' && f.code !== 'bad-value')) {
    throw new EngineRefusal(findings);
  }
}

const notCovered = (message: string): EngineRefusal =>
  new EngineRefusal([
    { code: 'not-covered', severity: 'error', message, option: 'model-path', fixes: [], refuses: false },
  ]);

function uncovered(layer: KvLayer): string | undefined {
  switch (layer.kind) {
    case 'cross':
      return 'cross-attention layers';
    case 'other':
      return 'layers of a kind that no rule covers';
    case 'state':
      return layer.state === undefined
        ? 'state layers whose sizes its config does not tell'
        : layer.state.type === 'mamba1'
          ? 'Mamba 1 layers, which SGLang is not known to serve'
          : undefined;
    default:
      return undefined;
  }
}

/** What is not planned is refused, never guessed. */
export function refuseUncovered(model: Model, rules: SglangRules, version: string): void {
  const what = model.layers.map(uncovered).find((w) => w !== undefined);
  if (what) {
    throw notCovered(`${model.id} has ${what}: KV Planner does not plan it for SGLang.`);
  }
  if (!rules.windowCell && model.layers.some((l) => l.ratio !== undefined)) {
    throw notCovered(
      `SGLang ${version} is not known to serve models that compress their history, such as ${model.id}.`,
    );
  }
  if (!rules.statePool && model.layers.some((l) => l.kind === 'state')) {
    throw notCovered(`SGLang ${version} is not known to serve models with states, such as ${model.id}.`);
  }
}
