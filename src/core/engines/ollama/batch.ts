/** The batch that Ollama picks for llama-server: it decides the cells of sliding layers. Source: ollama/ollama llm/llama_server.go :: automaticGenerationBatch, v0.33.0. */
import type { Model } from '../../model/model';
import { MiB } from '../../units';
import { approximate } from '../coverage';
import type { ConfigureInput, Finding } from '../engine';

interface Step {
  readonly tokens: number;
  /** Longer contexts than this, over all requests. */
  readonly above: number;
  /** Share of the memory that the prediction may take, and what the batch takes more. */
  readonly share: number;
  readonly surcharge: number;
}

const STEPS: readonly Step[] = [
  { tokens: 2048, above: 32768, share: 0.6, surcharge: 2048 * MiB },
  { tokens: 1024, above: 4096, share: 0.75, surcharge: 768 * MiB },
];

export function automaticBatch(
  { model, hardware, given }: ConfigureInput,
  context: number,
): { readonly tokens: number; readonly findings: readonly Finding[] } {
  const predicted = predictedBytes(model, context, given.weights);
  const available = hardware && hardware.memory.value * (hardware.count ?? 1);
  const fits = ({ share, surcharge }: Step): boolean =>
    available === undefined ||
    predicted === undefined ||
    (predicted <= share * available && predicted + surcharge <= 0.8 * available);
  const step = STEPS.find((s) => context > s.above && fits(s));
  const windowed = model.layers.some((l) => l.kind === 'sliding' || l.kind === 'chunked');
  return {
    tokens: step?.tokens ?? 512,
    findings: windowed
      ? [
          approximate(
            'the batch, which is added to every window, is picked by the memory that is free when the model is loaded; an empty GPU is assumed. num_batch says it.',
          ),
        ]
      : [],
  };
}

/** What the scheduler expects: keys and values in f16 on every layer, heads of the model's width. It is no allocation. */
function predictedBytes(model: Model, context: number, weights: number | undefined): number | undefined {
  const bytes = weights ?? model.weights?.bytes;
  const heads = model.attentionHeads;
  if (bytes === undefined || heads === 0) {
    return bytes;
  }
  const layers = model.gguf?.blocks ?? model.layers.filter((l) => !l.joined).length;
  const kvHeads = Math.min(...model.layers.filter((l) => l.kvHeads > 0).map((l) => l.kvHeads));
  return bytes + 2 * layers * kvHeads * (model.hiddenSize / heads) * context * 2;
}
