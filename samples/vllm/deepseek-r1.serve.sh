#!/usr/bin/env bash
# DeepSeek R1 on eight H200s. The latent cache (MLA) is kept whole on every GPU: tensor parallelism does not divide it.
# kv-planner: gpu=H200 gpus=8 prompt=2000 output=1000
set -euo pipefail

MODEL=${MODEL:-deepseek-ai/DeepSeek-R1}

vllm serve "$MODEL" \
  --tensor-parallel-size 8 \
  --max-model-len 65536 \
  --gpu-memory-utilization 0.92 \
  --speculative-config '{"method": "mtp", "num_speculative_tokens": 1}'
