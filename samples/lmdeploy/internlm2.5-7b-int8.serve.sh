#!/bin/sh
# InternLM 2.5 7B with a long context on an A10: keys and values in 8 bit, a scale and a zero point beside every head's.
# kv-planner: gpu=A10 prompt=4000 output=500
lmdeploy serve api_server internlm/internlm2_5-7b-chat \
    --server-port 23333 \
    --backend turbomind \
    --session-len 65536 \
    --quant-policy 8 \
    --cache-max-entry-count 0.8 \
    --enable-prefix-caching
