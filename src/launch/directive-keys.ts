/** The keys of a `kv-planner:` comment, each described once. */
import type { DirectiveKey } from './launch';

export interface DirectiveDoc {
  /** What stands behind `=`. */
  readonly takes: string;
  readonly summary: string;
}

const bytes = 'BYTES: 58.11GiB, 80GB';
const instead = (of: string): string => `${of} of one GPU, in place of what KV Planner estimates.`;

export const DIRECTIVES: Readonly<Record<DirectiveKey, DirectiveDoc>> = {
  gpu: { takes: 'NAME', summary: 'The GPU that the launch runs on: H100-80GB, A10G, RTX 4090 in quotes.' },
  gpus: { takes: 'N', summary: 'How many of them the launch may use.' },
  'gpu-memory': { takes: bytes, summary: 'Memory of one GPU as its driver reports it, where the GPU is not known.' },
  model: { takes: 'ID', summary: 'The model to plan with: its id on the Hub, as org/name.' },
  'model-config': { takes: 'PATH', summary: 'The model’s config.json or GGUF file, or the folder that it lies in.' },
  engine: { takes: 'NAME[@VERSION]', summary: 'Engine and version that run: vllm@0.27, or the version alone.' },
  prompt: { takes: 'TOKENS', summary: 'Tokens of a typical prompt.' },
  output: { takes: 'TOKENS', summary: 'Tokens of a typical answer.' },
  'kv-memory': {
    takes: bytes,
    summary: 'Memory for the KV cache on one GPU, from a start-up log: the budget is skipped.',
  },
  weights: { takes: bytes, summary: instead('Memory for the weights') },
  activations: { takes: bytes, summary: instead('Memory for activations') },
  graphs: { takes: bytes, summary: instead('Memory for CUDA graphs') },
  other: { takes: bytes, summary: instead('What else is taken') },
};

export const isDirectiveKey = (key: string): key is DirectiveKey => Object.hasOwn(DIRECTIVES, key);
