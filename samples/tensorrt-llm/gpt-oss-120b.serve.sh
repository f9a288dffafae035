#!/usr/bin/env bash
# gpt-oss 120B on one H200: half of its layers look back on 128 tokens only, and get a pool of their own.
# kv-planner: gpu=H200 prompt=2000 output=500
set -euo pipefail

cat > /tmp/options.yaml <<EOF
kv_cache_config:
  free_gpu_memory_fraction: 0.9
  max_attention_window: [128, 131072]
  host_cache_size: 34359738368
cuda_graph_config:
  enable_padding: true
EOF

trtllm-serve openai/gpt-oss-120b \
  --host 0.0.0.0 \
  --port 8000 \
  --max_batch_size 256 \
  --max_num_tokens 8192 \
  --max_seq_len 131072 \
  --extra_llm_api_options /tmp/options.yaml
