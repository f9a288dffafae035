/** Lines of public TensorRT-LLM logs, through the planner. */

import { blocksOf, modelNamed, type OtherLog, otherLogs, planOf, replayed, tokensOf, within } from './other-logs';
import type { LogResult } from './outcome';

const MODELS = {
  'Mistral-7B': 'mistralai/Mistral-7B-Instruct-v0.2',
  'TinyLlama-1.1B': 'TinyLlama/TinyLlama-1.1B-Chat-v1.0',
  'SmolLM2-135M': 'HuggingFaceTB/SmolLM2-135M',
};

/** Logs of engines were made before PyTorch became the default. */
const VERSIONS: Readonly<Record<string, string>> = { 'trt-cortex-981': '0.10', 'trt-tutorials-pr150': '0.20' };

export const replayTensorrtLlm = (): readonly LogResult[] =>
  replayed(
    otherLogs((engine) => engine === 'tensorrt-llm'),
    replay,
  );

function replay(log: OtherLog): LogResult {
  const plan = (kvBytes: number) =>
    planOf({
      image: 'nvcr.io/nvidia/tensorrt-llm/release',
      command: [
        'trtllm-serve',
        modelNamed(MODELS, log),
        `--tp_size=${log.tp ?? 1}`,
        '--max_seq_len=2048',
        ...(log.block_or_page_size ? [`--tokens_per_block=${log.block_or_page_size}`] : []),
      ],
      engine: `tensorrt-llm@${VERSIONS[log.id] ?? log.engine_version ?? '1.3'}`,
      kvBytes,
    });
  return within(log, plan, [
    { what: 'blocks', logged: log.blocks, of: blocksOf },
    { what: 'tokens', logged: log.tokens, of: tokensOf },
  ]);
}
