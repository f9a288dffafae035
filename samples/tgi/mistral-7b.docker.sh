#!/bin/bash
# Mistral 7B on one L4 as model cards start it. Nothing says how long a request may be: the pool does.
# kv-planner: gpu=L4
model=mistralai/Mistral-7B-Instruct-v0.3
volume=$PWD/data

docker run --gpus all --shm-size 1g -p 8080:80 -v "$volume:/data" \
  ghcr.io/huggingface/text-generation-inference:3.3.5 \
  --model-id $model \
  --max-batch-prefill-tokens 4096 \
  --max-concurrent-requests 64
