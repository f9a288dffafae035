/** Findings that every engine words alike: what is not planned, and what is planned by a rule that is not sure. */
import type { KvLayer, Model } from '../model/model';
import { EngineRefusal, type Finding } from './engine';

/** What this product does not plan says nothing about what the engine does. */
export const notCovered = (message: string, option = 'model'): EngineRefusal =>
  new EngineRefusal([{ code: 'not-covered', severity: 'error', message, option, fixes: [], refuses: false }]);

/** Names the rule that is not sure. */
export const approximate = (message: string, option?: string): Finding => ({
  code: 'approximate',
  severity: 'information',
  message,
  option,
  fixes: [],
});

export const refused = (code: string, message: string, option?: string): Finding => ({
  code,
  severity: 'error',
  message,
  option,
  fixes: [],
});

/** Where an engine stores windows as if they were the whole context. */
export function windowsKeptWhole(layers: readonly KvLayer[], option: string): readonly Finding[] {
  const windowed = layers.filter((l) => l.window !== undefined).length;
  const message = `${windowed} of ${layers.length} layers look back on a window only, but keep keys and values of the whole context.`;
  return windowed > 0 ? [{ code: 'windows-kept-whole', severity: 'information', message, option, fixes: [] }] : [];
}

/** Refuses a model with a layer that `covers` says no to. */
export function refuseLayers(model: Model, title: string, covers: (layer: KvLayer) => true | string): void {
  for (const layer of model.layers) {
    const what = layer.kind === 'shared' || layer.kind === 'none' ? true : covers(layer);
    if (what !== true) {
      throw notCovered(`${model.id} has ${what}, which KV Planner does not plan for ${title}.`);
    }
  }
}
