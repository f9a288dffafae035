// The benchmark in this process, on Dawn. Started by kernels.mjs, which sets the variables that choose the adapter.
// kernels-node.mjs DAWN BUNDLE JOBS RESULTS
import fs from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [dawn = '', bundle = '', jobs = '[]', results = ''] = process.argv.slice(2);
const { create, globals } = await import(pathToFileURL(dawn).href);
Object.assign(globalThis, globals);
// It must stay referenced: when it is collected, the process crashes some time later.
const gpu = create(['disable-dawn-features=timestamp_quantization']);
Object.assign(globalThis, { keptForDawn: gpu });

const cpu = {
  kind: /** @type {const} */ ('cpu'),
  now: () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
};
const { runJobs } = createRequire(import.meta.url)(bundle);
const setting = { runner: 'node', system: process.platform, clock: cpu, say: console.log };
const code = await runJobs(gpu, JSON.parse(jobs), setting).then(
  (/** @type {unknown} */ done) => {
    fs.writeFileSync(results, JSON.stringify(done));
    return 0;
  },
  (/** @type {unknown} */ error) => {
    console.error(error);
    return 1;
  },
);
process.exit(code); // a live device keeps Node up
