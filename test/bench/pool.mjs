// What the block pool costs, in processor time of one core: npm run bench prints it; `node test/bench/pool.mjs` runs it alone.
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import * as esbuild from 'esbuild';
import { ROOT } from '../../scripts/lib/paths.mjs';
import { calibrate, median } from './measure.mjs';

const OPERATIONS_LIMIT = 20e6;
const STEPS_LIMIT = 2e6;
const TRACE_SECONDS = 30;
const TRACE_BYTES = 1e9;
const SCALE_LIMIT = 1.3;

/** @returns {Promise<typeof import('../../src/core/pool/index')>} */
async function load() {
  const outfile = path.join(ROOT, 'out/bench/pool.mjs');
  await esbuild.build({
    entryPoints: [path.join(ROOT, 'src/core/pool/index.ts')],
    outfile,
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
  });
  return import(pathToFileURL(outfile).href);
}

/** Seconds of processor time, garbage collection included: what a core of its own would take, however busy the machine. */
const seconds = (/** @type {() => void} */ work) => {
  const start = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1e6;
};

/** Rows for the table of `npm run bench`; `full` also runs a million requests. */
export async function poolBench({ full = true } = {}) {
  const pool = await load();
  const rows = [blockOperations(pool), requestSteps(pool), mooncake(pool)];
  if (full) {
    rows.push(scaling(pool));
  }
  return rows;
}

/** @param {Awaited<ReturnType<typeof load>>} pool */
function blockOperations(pool) {
  const { createBlockPool, releaseBlocks, storeBlock, takeBlock, touchBlock } = pool;
  const blocks = createBlockPool({ blocks: 100_001 });
  const list = new Int32Array(500);
  let hash = 1;
  // Take 500 blocks, store half of them, share and release the rest: what requests do, without their schedule.
  const round = () => {
    for (let i = 0; i < list.length; i++) {
      const block = takeBlock(blocks);
      list[i] = block;
      if ((i & 1) === 0) {
        hash = (Math.imul(hash, 0x9e3779b1) + 1) | 0;
        storeBlock(blocks, block, hash, ~hash, 0);
      }
      touchBlock(blocks, block);
    }
    releaseBlocks(blocks, list, list.length - 1, list.length, -1);
    releaseBlocks(blocks, list, list.length - 1, list.length, -1);
  };
  const perRound = list.length * 4 + list.length / 2;
  const rounds = 4000;
  const times = Array.from({ length: 5 }, () => seconds(() => Array.from({ length: rounds }, round)));
  const rate = (perRound * rounds) / median(times);
  return {
    what: 'block operations a second, one core',
    figure: `${(rate / 1e6).toFixed(0)} million, beside ${calibrate().milliseconds.toFixed(0)} ms for the calibration loop`,
    limit: `at least ${OPERATIONS_LIMIT / 1e6} million`,
    broken: !(rate >= OPERATIONS_LIMIT),
  };
}

/** @param {Awaited<ReturnType<typeof load>>} pool */
function requestSteps(pool) {
  const traffic = pool.generateTraffic({
    requests: 20_000,
    seed: 1,
    arrivals: { kind: 'closed', clients: 300 },
    prompt: { kind: 'lognormal', mean: 600, spread: 1, high: 8000 },
    output: { kind: 'lognormal', mean: 250, spread: 1, high: 4000 },
  });
  let steps = 0;
  const time = seconds(() => {
    const run = simulate(pool, traffic, 12_000);
    run.run();
    steps = run.totals.requestSteps;
  });
  const rate = steps / time;
  return {
    what: 'request-steps a second, vLLM V1',
    figure: `${(rate / 1e6).toFixed(1)} million (${(steps / 1e6).toFixed(1)} million in ${time.toFixed(2)} s)`,
    limit: `at least ${STEPS_LIMIT / 1e6} million`,
    broken: !(rate >= STEPS_LIMIT),
  };
}

/** @param {Awaited<ReturnType<typeof load>>} pool @param {any} traffic @param {number} blocks */
function simulate(pool, traffic, blocks) {
  const scheduler = pool.createVllmV1(traffic, {
    blocks,
    groups: [{ kind: 'full', blockSize: 16 }],
    batchTokens: 8192,
    maxSequences: 256,
    maxLength: 131_072,
  });
  return pool.createSimulation(scheduler, { clock: pool.fixedClock(0.02) });
}

/** @param {Awaited<ReturnType<typeof load>>} pool @param {number} requests @param {number} blocks */
function runMooncake(pool, requests, blocks) {
  const traffic = pool.mooncakeLike({ requests, seed: 7, arrivals: { kind: 'closed', clients: 256 } });
  const run = simulate(pool, traffic, blocks);
  const time = seconds(() => run.run());
  return { time, run };
}

/** @param {Awaited<ReturnType<typeof load>>} pool */
function mooncake(pool) {
  const before = process.memoryUsage().rss;
  const { time, run } = runMooncake(pool, 100_000, 100_001);
  const bytes = process.memoryUsage().rss;
  const { finished, preemptions, requestSteps } = run.totals;
  return {
    what: '100,000 Mooncake-like requests',
    figure: `${time.toFixed(1)} s, ${(bytes / 1e6).toFixed(0)} MB (${(before / 1e6).toFixed(0)} MB before), ${finished} finished, ${preemptions} preempted, ${(requestSteps / 1e6).toFixed(1)} million request-steps`,
    limit: `at most ${TRACE_SECONDS} s and ${TRACE_BYTES / 1e9} GB`,
    broken: !(time <= TRACE_SECONDS && bytes <= TRACE_BYTES),
  };
}

/** @param {Awaited<ReturnType<typeof load>>} pool */
function scaling(pool) {
  const smallOnes = () => Array.from({ length: 4 }, () => runMooncake(pool, 10_000, 100_001).time / 10_000);
  smallOnes(); // until the compiler has seen it all
  const before = smallOnes();
  const large = runMooncake(pool, 1_000_000, 100_001).time / 1_000_000;
  const small = median([...before, ...smallOnes()]);
  const ratio = large / small;
  return {
    what: 'cost per request, 1,000,000 against 10,000',
    figure: `${ratio.toFixed(2)} × (${(large * 1e6).toFixed(0)} µs against ${(small * 1e6).toFixed(0)} µs)`,
    limit: `at most ${SCALE_LIMIT} ×`,
    broken: !(ratio <= SCALE_LIMIT),
  };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const rows = await poolBench({ full: !process.argv.includes('--quick') });
  for (const { what, figure, limit, broken } of rows) {
    console.log(`${broken ? 'BROKEN' : 'ok    '} ${what.padEnd(42)} ${figure}  (${limit})`);
  }
  process.exitCode = rows.some(({ broken }) => broken) ? 1 : 0;
}
