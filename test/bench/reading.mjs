// What reading a large manifest costs: anew, after an edit of one document, and when nothing has changed.
import { createRequire } from 'node:module';
import path from 'node:path';
import * as esbuild from 'esbuild';
import { FOR_NODE } from '../../scripts/lib/for-node.mjs';
import { ROOT } from '../../scripts/lib/paths.mjs';
import { bareYaml, calibrate, inTurns } from './measure.mjs';

const READ_LIMIT = 1.3;
const EDIT_LIMIT = 20;
const UNCHANGED_LIMIT = 0.05;

const LAUNCHES = 20;
const LINES = 2000;

/** A document of 100 lines that starts vLLM; `note` tells one from another. @param {number} i @param {string | number} note */
function deployment(i, note) {
  const head = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: vllm-${i}  # ${note}
  labels: {app: vllm-${i}, team: serving}
spec:
  replicas: 1
  selector:
    matchLabels: {app: vllm-${i}}
  template:
    metadata:
      labels: {app: vllm-${i}}
    spec:
      nodeSelector:
        nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3
      containers:
        - name: server
          image: vllm/vllm-openai:v0.10.2
          args:
            - --model=meta-llama/Llama-3.1-70B-Instruct
            - --tensor-parallel-size=4
            - "--max-model-len"
            - "${8192 + i}"
            - --gpu-memory-utilization=0.92
            - --kv-cache-dtype=fp8
            - --max-num-seqs=256
          resources:
            limits:
              nvidia.com/gpu: 4
              memory: 256Gi
          ports:
            - containerPort: 8000
          readinessProbe:
            httpGet: {path: /health, port: 8000}
            initialDelaySeconds: 120
          env:
`;
  const lines = head.split('\n').length;
  const rest = Array.from(
    { length: Math.floor((100 - lines) / 2) },
    (_, n) => `            - name: VARIABLE_${n}\n              value: "value ${n} of ${i}"\n`,
  );
  const text = `${head}${rest.join('')}`;
  return text + '            # end\n'.repeat(Math.max(0, 99 - text.split('\n').length + 1));
}

/** @param {string | number} note in every document, or in one alone @param {number} [only] */
const manifest = (note, only) =>
  Array.from({ length: LAUNCHES }, (_, i) => deployment(i, only === undefined || only === i ? note : 'same')).join(
    '---\n',
  );

/** @returns {Promise<{ what: string, figure: string, limit: string, broken: boolean }[]>} */
export async function readingBench() {
  const outfile = path.join(ROOT, 'out/bench/reading.cjs');
  await esbuild.build({
    ...FOR_NODE,
    minify: true,
    stdin: {
      contents: "export { readLaunches } from './src/launch';",
      resolveDir: ROOT,
    },
    outfile,
  });
  const { readLaunches } = createRequire(import.meta.url)(outfile);
  const name = 'vllm.yaml';
  const text = manifest('same');
  const found = readLaunches({ text, name }).launches.length;
  const lines = text.split('\n').length;
  if (found !== LAUNCHES || Math.abs(lines - LINES) > 25) {
    throw new Error(`The manifest of ${lines} lines gave ${found} launches: there is nothing to measure.`);
  }
  // The texts are made beforehand: making them is no part of reading.
  const anew = Array.from({ length: 400 }, (_, i) => manifest(i));
  const edited = Array.from({ length: 400 }, (_, i) => manifest(i, i % LAUNCHES));
  let [a, e, p] = [0, 0, 0];
  const readAnew = () => readLaunches({ text: anew[a++ % anew.length], name });
  const readEdited = () => readLaunches({ text: edited[e++ % edited.length], name });
  const readAgain = () => readLaunches({ text, name });
  const parse = () => bareYaml.parseAllDocuments(anew[p++ % anew.length]);
  const all = [readAnew, parse, readEdited];
  inTurns(all, { rounds: 15, calls: 3 });
  const [whole = 0, bare = 0, edit = 0] = inTurns(all, { rounds: 31, calls: 3 });
  readAgain();
  const [again = 0] = inTurns([readAgain], { rounds: 31, calls: 50 });
  const loop = calibrate().milliseconds;
  return [
    {
      what: 'a manifest of 2,000 lines, all read',
      figure: `${(whole / bare).toFixed(2)} × bare YAML parsing (${whole.toFixed(1)} ms against ${bare.toFixed(1)} ms)`,
      limit: `limit ${READ_LIMIT} ×`,
      broken: !(whole / bare <= READ_LIMIT),
    },
    {
      what: 'the same, one document edited',
      figure: `${edit.toFixed(1)} ms, calibration loop ${loop.toFixed(0)} ms`,
      limit: `limit ${EDIT_LIMIT} ms`,
      broken: !(edit <= EDIT_LIMIT),
    },
    {
      what: 'the same, nothing changed',
      figure: `${(again * 1000).toFixed(1)} µs, ${(again / bare).toFixed(4)} × bare parsing`,
      limit: `limit ${UNCHANGED_LIMIT} ×`,
      broken: !(again / bare <= UNCHANGED_LIMIT),
    },
  ];
}
