/** Environment variables of SGLang that change the plan and have no option of their own. `name` is the variable. */
import type { OptionSpec } from '../option';
import { rowsOf, sourceOf } from './option-rows';

export const SGLANG_ENVIRONMENT: readonly OptionSpec[] = rowsOf(sourceOf('environ.py'), [
  {
    name: 'SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN',
    type: 'flag',
    summary: 'Accepts a context-length beyond what the model’s config gives.',
    effect: 'Longer requests are then checked against the pool alone.',
  },
  {
    name: 'SGLANG_PP_LAYER_PARTITION',
    type: 'string',
    defaults: [{ text: 'layers divided evenly over the stages' }],
    summary: 'Layers of each pipeline stage, with commas between.',
    effect: 'Decides which stage has the smallest pool.',
  },
  {
    name: 'SGLANG_ENABLE_POST_CAPTURE_KV_SIZING',
    type: 'flag',
    since: '0.5.15',
    summary: 'Sizes the pool after graphs are captured.',
    effect: 'The reserve behind the default memory share is 1536 MiB and 128 MiB for each GPU.',
  },
  {
    name: 'SGLANG_VLM_CACHE_SIZE_MB',
    type: 'int',
    defaults: [{ value: 100 }],
    summary: 'Cache of encoder outputs of multimodal models, in MiB.',
    effect: 'Is taken from the KV pool.',
  },
  {
    name: 'SGLANG_MM_FEATURE_CACHE_MB',
    type: 'int',
    defaults: [{ value: 1024 }],
    summary: 'Memory for features of media on the GPU, in MiB; with cuda_ipc and cuda_vmm only.',
    effect: 'Is taken from the KV pool.',
  },
]);
