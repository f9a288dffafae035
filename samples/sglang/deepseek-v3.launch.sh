#!/usr/bin/env bash
# DeepSeek V3 on one machine: attention data-parallel, so that no GPU keeps another one's requests.
# kv-planner: gpu=H200 gpus=8 prompt=3000 output=500
set -euo pipefail

MODEL=${MODEL:-deepseek-ai/DeepSeek-V3-0324}

export SGL_ENABLE_JIT_DEEPGEMM=1

python3 -m sglang.launch_server \
  --model-path "$MODEL" \
  --trust-remote-code \
  --tp 8 \
  --dp 8 \
  --enable-dp-attention \
  --kv-cache-dtype fp8_e4m3 \
  --context-length 64Ki \
  --mem-fraction-static 0.85 \
  --max-running-requests 512 \
  --speculative-algorithm NEXTN \
  --speculative-num-steps 3 \
  --speculative-eagle-topk 1 \
  --speculative-num-draft-tokens 4 \
  --host 0.0.0.0 --port 30000
