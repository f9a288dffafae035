/** The benchmark in the real workbench's webview, on the software adapter that the browser brings. */
import type { Frame, Worker } from 'playwright-core';
import { expect, test } from 'vitest';
import { useWorkbench } from './session';
import { eventually, openFile, runCommand, screenshot, webviewFrame } from './workbench';

const workbench = useWorkbench();
const complaints: string[] = [];

const benchOf = (): Promise<Frame> => webviewFrame(workbench.page, '.bench');

/** The worker that holds the GPU; a later one where an earlier has ended. */
const workerOf = (): Promise<Worker> =>
  eventually('the benchmark’s worker', async () => {
    for (const worker of workbench.page.workers().reverse()) {
      const ours = await worker.evaluate(() => self.name === 'bench-worker').catch(() => false);
      if (ours) {
        return worker;
      }
    }
    return undefined;
  });

const press = async (name: string): Promise<void> => (await benchOf()).getByRole('button', { name }).click();

/** A panel of its own: closed and opened again, the dashboard starts its worker anew. */
async function fresh(): Promise<void> {
  const { page } = workbench;
  await runCommand(page, 'View: Close All Editor Groups');
  await openBenchmark();
}

async function openBenchmark(): Promise<void> {
  const { page } = workbench;
  await openFile(page, 'vllm/llama-3.1-8b-l4.compose.yaml');
  await runCommand(page, 'KV Planner: Open Dashboard');
  const dashboard = await webviewFrame(page, 'body[data-ready="1"]');
  await dashboard.getByRole('tab', { name: 'Benchmark' }).click();
  await (await benchOf()).locator('[data-adapter="found"]').waitFor({ timeout: MINUTE });
}

const MINUTE = 60_000;

test('it opens from the dashboard, with the launch’s shape, and says whose GPU it is', async () => {
  const { page } = workbench;
  page.on('console', (message) => {
    // The workbench complains of its own affairs; ours are the page's and its worker's.
    if (message.type() === 'error' && /dist\/webview|^blob:/.test(message.location().url)) {
      complaints.push(message.text());
    }
  });
  await openBenchmark();
  const bench = await benchOf();
  expect(await bench.locator('[data-adapter]').textContent()).toMatch(
    /swiftshader, software that plays a GPU .* not of 127\.0\.0\.1.* not the GPU that will serve/i,
  );
  await bench.getByText('A software adapter: only whether the kernels are right is tested').waitFor();
  expect(await bench.getByRole('textbox', { name: 'Query heads' }).inputValue()).toBe('32');
  expect(await bench.getByRole('textbox', { name: 'KV heads' }).inputValue()).toBe('8');
  await screenshot(page, 'bench-ready');
});

test('cancelled in the middle, it says so and can run again, to the end', async () => {
  await press('Run Benchmark');
  await press('Cancel');
  const bench = await benchOf();
  await bench.locator('[data-trouble="cancelled"]').waitFor();
  await press('Run Benchmark');
  await bench.getByRole('heading', { name: 'The kernels are right on this adapter' }).waitFor({ timeout: MINUTE });
  await bench.getByText(/All \d\d checks passed/).waitFor();
  await screenshot(workbench.page, 'bench-checked');
});

test('a device destroyed in the middle is tried once more with half the work; a second loss is told', async () => {
  const worker = await workerOf();
  await worker.evaluate(() => {
    const request = GPUAdapter.prototype.requestDevice;
    const devices: GPUDevice[] = [];
    Object.assign(self, { devices });
    GPUAdapter.prototype.requestDevice = async function (...args) {
      const device = await request.apply(this, args);
      devices.push(device);
      return device;
    };
  });
  const destroy = (n: number): Promise<void> =>
    eventually(`device ${n}`, () =>
      worker.evaluate((index) => {
        const device = (self as unknown as { devices: GPUDevice[] }).devices[index];
        device?.destroy();
        return device ? true : undefined;
      }, n),
    ).then(() => {});
  const bench = await benchOf();
  await press('Run Benchmark');
  await destroy(0);
  await bench.getByText('this is half the work').waitFor({ timeout: MINUTE });
  await press('Run Benchmark');
  await destroy(2);
  await destroy(3);
  await bench.locator('[data-trouble="lost"]').waitFor({ timeout: MINUTE });
  await bench.getByText('the second time with half the work').waitFor();
  await screenshot(workbench.page, 'bench-lost');
});

test('an adapter that is gone, and is back', async () => {
  const bench = await benchOf();
  const worker = await workerOf();
  await worker.evaluate(() => {
    const request = GPU.prototype.requestAdapter;
    Object.assign(self, { request });
    GPU.prototype.requestAdapter = async () => null;
  });
  await press('Run Benchmark');
  await bench.getByRole('heading', { name: 'No GPU is offered to this window' }).waitFor();
  await press('Run the CPU Reference');
  await bench.getByRole('heading', { name: 'The reference gives the same output' }).waitFor();
  await screenshot(workbench.page, 'bench-absent');
  await worker.evaluate(() => {
    GPU.prototype.requestAdapter = (self as unknown as { request: GPU['requestAdapter'] }).request;
  });
  await press('Look Again');
  await bench.locator('[data-adapter="found"]').waitFor();
});

/** Each is made in the worker, where the GPU is. Memory is asked for twice, a kernel that does not compile only once. */
test.each([
  [
    'limits',
    "Object.defineProperty(GPUSupportedLimits.prototype, 'maxStorageBuffersPerShaderStage', { get: () => 4 })",
  ],
  ['refused', "GPUAdapter.prototype.requestDevice = () => Promise.reject(new Error('held by another program'))"],
  [
    'stuck', // its deadline of two minutes comes sooner here
    'GPUQueue.prototype.onSubmittedWorkDone = () => new Promise(() => {});' +
      'const later = setTimeout; self.setTimeout = (work, ms) => later(work, ms > 10_000 ? 2000 : ms);',
  ],
  ['validation', "GPUDevice.prototype.popErrorScope = async () => new GPUValidationError('wrong')"],
  ['out-of-memory', "GPUDevice.prototype.popErrorScope = async () => new GPUOutOfMemoryError('none left')"],
])('%s is told, and the next worker knows nothing of it', async (trouble, spoil) => {
  const bench = await benchOf();
  await (await workerOf()).evaluate(spoil);
  await press('Run Benchmark');
  await bench.locator(`[data-trouble="${trouble}"]`).waitFor();
  await bench.getByText('Everything else in the dashboard works without it.').waitFor();
  await fresh();
});

test('a GPU that never comes back is given up when it is cancelled', async () => {
  const bench = await benchOf();
  await (await workerOf()).evaluate('GPUQueue.prototype.onSubmittedWorkDone = () => new Promise(() => {})');
  await press('Run Benchmark');
  await press('Cancel');
  await bench.locator('[data-trouble="cancelled"]').waitFor();
  await press('Run Benchmark');
  await bench.getByRole('heading', { name: 'The kernels are right on this adapter' }).waitFor({ timeout: MINUTE });
});

test('times of this CPU, when they are asked for: charts, rows, and the panel alive all the while', async () => {
  const bench = await benchOf();
  await press('Time This CPU Anyway');
  await bench.getByRole('tab', { name: 'Capacity' }).click(); // it rests while nobody sees it
  await bench.getByRole('heading', { name: 'Memory of one GPU' }).waitFor();
  await bench.getByRole('tab', { name: 'Benchmark' }).click();
  const table = bench.getByRole('table', { name: 'All that was measured' });
  await table.waitFor({ timeout: 2 * MINUTE });
  expect(await table.getByRole('row').count()).toBeGreaterThan(10);
  expect(await bench.locator('.bench .chart canvas:visible').count()).toBe(2);
  await bench.getByText('the times describe this CPU and no GPU').waitFor();
  await screenshot(workbench.page, 'bench-timed');
  expect(complaints).toEqual([]);
}, 180_000);
