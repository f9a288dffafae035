#!/usr/bin/env bash
# Nothing says the context: it goes by the memory of the GPU.
# kv-planner: gpu=RTX-4090
docker run -d --gpus=all --name ollama \
  -v ollama:/root/.ollama -p 11434:11434 \
  -e OLLAMA_NUM_PARALLEL=4 \
  -e OLLAMA_KV_CACHE_TYPE=q8_0 \
  ollama/ollama:0.33.0

docker exec ollama ollama run llama3.1:8b "Hello"
