/** Reading what the kernel benchmark saved. */
import type { BenchResult } from '../core/pool/kernel-result';
import { readNamed } from './files';

export async function readBench(path: string): Promise<{ readonly result: BenchResult } | { readonly error: string }> {
  const content = readNamed(path);
  if ('error' in content) {
    return content;
  }
  let json: unknown;
  try {
    json = JSON.parse(content.text);
  } catch {
    return { error: 'is not JSON: a benchmark result is saved by the dashboard or by npm run bench:kernels' };
  }
  const { isNoisy, kernelTimes, readBenchResult } = await import('../core/pool/kernel-result');
  const read = readBenchResult(json);
  if ('error' in read) {
    return read;
  }
  if (kernelTimes(read.result).size === 0) {
    return { error: 'holds no times of paged attention: the kernels were checked there, but not measured' };
  }
  return isNoisy(read.result) ? { error: 'was measured in too much noise to weigh block sizes by it' } : read;
}
