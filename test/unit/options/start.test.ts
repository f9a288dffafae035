import { describe, expect, it } from 'vitest';
import { findOption } from '../../../src/core/engines/option-find';
import { VLLM_OPTIONS } from '../../../src/core/engines/vllm/options';
import { imageVersion, VLLM_START } from '../../../src/core/engines/vllm/start';

describe('images of vLLM', () => {
  const isImage = (name: string) => VLLM_START.images.some((image) => image.test(name));

  it.each([
    'vllm/vllm-openai',
    'vllm/vllm-openai-rocm',
    'vllm/vllm-openai-cpu',
    'rocm/vllm',
    'rocm/vllm-dev',
    'public.ecr.aws/deep-learning-containers/vllm',
    'q9t5s3a7/vllm-ci-postmerge-repo',
    'q9t5s3a7/vllm-release-repo',
    'ghcr.io/someone/mirror/vllm-openai',
    'someone/vllm-gh200-openai',
    'rhaiis/vllm-cuda-rhel9',
    'nvidia/vllm',
    'lmcache/vllm-openai',
    'vllm',
  ])('%s', (name) => expect(isImage(name)).toBe(true));

  it.each([
    'lmsysorg/sglang',
    'vllm/vllm-router',
    'lmcache/lmstack-router',
    'someone/vllm-exporter',
    'vllm-openai/client',
    'someone/notvllm',
    'ollama/ollama',
  ])('not %s', (name) => expect(isImage(name)).toBe(false));

  it.each([
    ['v0.10.1.1', '0.10.1'],
    ['v0.11.0', '0.11.0'],
    ['v0.11.0-x86_64', '0.11.0'],
    ['v0.20.0-cu130', '0.20.0'],
    ['v0.9.1rc1', '0.9.1'],
    ['0.8.5.post1', '0.8.5'],
    ['0.9-gpu-py312', '0.9'],
    ['rocm6.4.1_vllm_0.9.1_20250702', '0.9.1'],
    ['rocm6.3.1_instinct_vllm0.8.3_20250410', '0.8.3'],
    ['latest', undefined],
    ['nightly-0a1b2c3', undefined],
    ['nightly', undefined],
    ['25.09-py3', undefined],
    ['5fce51dac9e1', undefined],
    ['', undefined],
  ])('tag %j is version %j', (tag, version) => expect(imageVersion(tag)).toBe(version));
});

describe('start words', () => {
  it('name options that the table has', () => {
    const names = [VLLM_START.modelOption, VLLM_START.configOption ?? ''];
    expect(names.filter((name) => !findOption(VLLM_OPTIONS, name))).toEqual([]);
  });
});
