import { describe, expect, it } from 'vitest';
import { findModel } from '../../../src/core/model/catalogue';
import { modelFromConfig } from '../../../src/core/model/config-json';
import { type Model, ModelError } from '../../../src/core/model/model';
import { CONFIGS } from './configs';

const read = (config: unknown): Model => modelFromConfig(config, { id: 'test', path: 'config.json' });

/** `5 sliding 16×128/128 w1024 · 1 full …` */
function runs(model: Model): string {
  const words: { text: string; count: number }[] = [];
  for (const l of model.layers) {
    const text = `${l.joined ? '+' : ''}${l.kind} ${l.kvHeads}×${l.headDim}/${l.valueDim}${l.window ? ` w${l.window}` : ''}`;
    const last = words.at(-1);
    if (last?.text === text) {
      last.count++;
    } else {
      words.push({ text, count: 1 });
    }
  }
  return words.map((w) => `${w.count} ${w.text}`).join(' · ');
}

describe('config.json gives the same layers as the catalogue', () => {
  it.each(Object.keys(CONFIGS))('%s', (id) => {
    const known = findModel(id) as Model;
    const model = read(CONFIGS[id]);
    expect(runs(model)).toBe(runs(known));
    expect(model.mtpLayers).toEqual(known.mtpLayers);
    expect(model.attentionHeads).toBe(known.attentionHeads);
    expect(model.multimodal).toBe(known.multimodal);
  });
});
