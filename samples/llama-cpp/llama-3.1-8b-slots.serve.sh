#!/usr/bin/env bash
# Four slots with their own part of the context: -c is divided, so a request gets 8,192 tokens.
# kv-planner: gpu=RTX-4090 prompt=2000 output=500
set -euo pipefail

llama-server \
  -hf bartowski/Meta-Llama-3.1-8B-Instruct-GGUF:Q4_K_M \
  --host 0.0.0.0 --port 8080 \
  -ngl 99 \
  -fa on \
  -c 32768 -np 4 \
  --cache-type-k q8_0 --cache-type-v q8_0 \
  --jinja --metrics
