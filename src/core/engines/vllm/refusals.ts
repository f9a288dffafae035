/** What vLLM refuses before it looks at memory, and what is not planned here. */
import type { KvLayer, Model } from '../../model/model';
import { EngineRefusal, type Finding } from '../engine';
import { isLatent, type StoredDtype } from './backend';
import { bytesPerHeadToken } from './dtypes';

export const refusal = (code: string, message: string, option?: string): Finding => ({
  code,
  severity: 'error',
  message,
  option,
  fixes: [],
});

/** What this product does not plan says nothing about what the engine does. */
export const notCovered = (message: string): Finding => ({
  code: 'not-covered',
  severity: 'error',
  message,
  option: 'model',
  fixes: [],
  refuses: false,
});

/** A value that is not accepted leaves the layout alone (`tolerated`) unless the layout hangs on it. */
export function refuseWhen(findings: readonly Finding[], tolerated: string | undefined): void {
  if (tolerated === undefined || findings.some((f) => f.severity === 'error' && f.code !== tolerated)) {
    throw new EngineRefusal(findings);
  }
}

const UNCOVERED: ReadonlyMap<KvLayer['kind'], string> = new Map([
  ['cross', 'cross-attention layers'],
  ['other', 'layers of a kind that no rule covers'],
]);

const uncoveredKind = (layer: KvLayer): string | undefined =>
  layer.kind === 'state' && !layer.state
    ? 'state layers whose sizes its config does not tell'
    : UNCOVERED.get(layer.kind);

/** What is not planned is refused, never guessed. */
export function refuseUncovered(model: Model, environment: ReadonlyMap<string, string>): void {
  const uncovered = model.layers.map(uncoveredKind).find((what) => what !== undefined);
  if (uncovered) {
    throw new EngineRefusal([notCovered(`${model.id} has ${uncovered}, which KV Planner does not plan for vLLM.`)]);
  }
  if (isLatent(model) && environment.get('VLLM_MLA_DISABLE') === '1') {
    throw new EngineRefusal([
      notCovered('VLLM_MLA_DISABLE=1 keeps MLA as multi-head attention, which is not planned.'),
    ]);
  }
}

export function refuseDtype(layers: readonly KvLayer[], dtypes: readonly string[], stored: StoredDtype): void {
  const at = layers.findIndex(
    (layer, i) =>
      layer.kind !== 'state' &&
      layer.ratio === undefined &&
      bytesPerHeadToken(layer, dtypes[i] as string) === undefined,
  );
  if (at >= 0) {
    const kind = layers[at]?.kind === 'latent' ? 'latent (MLA)' : 'multi-head';
    throw new EngineRefusal([
      refusal('dtype-without-layout', `KV dtype ${stored.value} has no layout for ${kind} layers.`, 'kv-cache-dtype'),
    ]);
  }
}
