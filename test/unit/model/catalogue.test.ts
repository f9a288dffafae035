import { describe, expect, it } from 'vitest';
import { findModel } from '../../../src/core/model/catalogue';

describe('catalogue', () => {
  it('finds a model by its id', () => {
    const model = findModel('meta-llama/Llama-3.1-70B-Instruct');
    expect(model?.layers).toHaveLength(80);
    expect(model?.layers[0]).toEqual({ kind: 'full', kvHeads: 8, headDim: 128, valueDim: 128 });
  });
});
