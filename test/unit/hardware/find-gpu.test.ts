import { describe, expect, it } from 'vitest';
import { findGpu, findInstance, gpuNames, nearestGpus } from '../../../src/core/hardware/find-gpu';
import { GiB } from '../../../src/core/units';

describe('findGpu', () => {
  it.each<[string, string]>([
    // As sold, and short.
    ['H100', 'H100 80GB SXM'],
    ['H100-80GB', 'H100 80GB SXM'],
    ['h100', 'H100 80GB SXM'],
    ['A100', 'A100 80GB SXM'],
    ['a100-40gb', 'A100 40GB SXM'],
    ['A100 PCIe', 'A100 80GB PCIe'],
    ['L4', 'L4'],
    ['l4-24gb', 'L4'],
    ['RTX4090', 'RTX 4090'],
    ['4090', 'RTX 4090'],
    ['RTX A6000', 'RTX A6000'],
    ['RTX 6000 Ada', 'RTX 6000 Ada'],
    ['mi300x', 'MI300X'],
    // nvidia-smi and rocm-smi.
    ['NVIDIA H100 80GB HBM3', 'H100 80GB SXM'],
    ['NVIDIA A100-SXM4-80GB', 'A100 80GB SXM'],
    ['Tesla T4', 'T4'],
    ['NVIDIA GeForce RTX 3090', 'RTX 3090'],
    ['AMD Instinct MI300X', 'MI300X'],
    // Kubernetes labels and accelerators.
    ['NVIDIA-H100-80GB-HBM3', 'H100 80GB SXM'],
    ['NVIDIA-H100-80GB-HBM3-SHARED', 'H100 80GB SXM'],
    ['NVIDIA-L40S', 'L40S'],
    ['nvidia-tesla-t4', 'T4'],
    ['nvidia-h100-80gb', 'H100 80GB SXM'],
    ['nvidia-l4', 'L4'],
    // Instance types.
    ['p5.48xlarge', 'H100 80GB SXM'],
    ['Standard_ND96isr_H100_v5', 'H100 80GB SXM'],
    ['a2-highgpu-8g', 'A100 40GB SXM'],
  ])('%s is %s', (name, expected) => {
    expect(findGpu(name)?.name).toBe(expected);
  });

  it.each([
    '',
    ' ',
    'H1000',
    'L4-80GB',
    '8xH100',
    // A part of a GPU is not that GPU.
    'NVIDIA-A100-SXM4-80GB-MIG-1g.10gb',
    'g6f.large',
  ])('%j is not known', (name) => {
    expect(findGpu(name)).toBeUndefined();
  });

  it.each<[string, number, number, number]>([
    ['H100', 79.1, 79.19, 79.19],
    ['A100-80GB', 79.15, 79.15, 79.25],
    ['L4', 21.95, 22, 22.05],
    ['H200', 139.8, 139.8, 139.8],
    ['B200', 178.35, 178.36, 178.36],
    ['MI300X', 191.98, 191.98, 191.98],
    // Only nvidia-smi's 49,152 MiB is known: less what the driver keeps.
    ['Quadro RTX 8000', 47.25, 47.56, 47.76],
    // Only the size on the box.
    ['A30', 22.8, 23.52, 24],
    ['MI355X', 273.6, 287.98, 288],
  ])('%s has %f … %f … %f GiB', (name, low, usual, high) => {
    const memory = findGpu(name)?.memory;
    expect((memory?.low ?? 0) / GiB).toBeCloseTo(low, 1);
    expect((memory?.value ?? 0) / GiB).toBeCloseTo(usual, 2);
    expect((memory?.high ?? 0) / GiB).toBeCloseTo(high, 1);
  });

  it('says when memory is an estimate', () => {
    expect(findGpu('Quadro RTX 8000')?.sources[0]).toMatch(/estimated from the figure of nvidia-smi/);
    expect(findGpu('A30')?.sources[0]).toMatch(/estimated from the size/);
    expect(findGpu('H100')?.sources[0]).toMatch(/total that CUDA/);
  });

  it('every GPU is found by its name, with a range around its value and a source', () => {
    expect(gpuNames().length).toBeGreaterThan(80);
    for (const name of gpuNames()) {
      const gpu = findGpu(name);
      expect(gpu?.name).toBe(name);
      expect(gpu?.memory.low).toBeLessThanOrEqual(gpu?.memory.value ?? 0);
      expect(gpu?.memory.high).toBeGreaterThanOrEqual(gpu?.memory.value ?? 0);
      expect(gpu?.memory.low, name).toBeGreaterThan(0);
      expect(gpu?.sources.length, name).toBeGreaterThan(1);
    }
  });

  it('offers what may have been meant', () => {
    expect(nearestGpus('H1O0 80GB SXM', 1)).toEqual(['H100 80GB SXM']);
    expect(nearestGpus('RTX 4900', 3)).toContain('RTX 4090');
    expect(nearestGpus('h100-80', 3)[0]).toMatch(/^H100 80GB/);
  });
});

describe('findInstance', () => {
  it.each<[string, string, number]>([
    ['g6.12xlarge', 'L4', 4],
    ['p5.48xlarge', 'H100 80GB SXM', 8],
    ['Standard_NC96ads_A100_v4', 'A100 80GB PCIe', 4],
  ])('%s holds %s × %i', (type, gpu, count) => {
    expect(findInstance(type)).toMatchObject({ gpu: { name: gpu }, count });
  });

  it('knows no type that gives a part of a GPU', () => {
    expect(findInstance('g6f.large')).toBeUndefined();
  });
});
