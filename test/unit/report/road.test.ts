import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { planText } from '../../../src/planner';
import { reportCsv } from '../../../src/report/csv';
import { reportHtml } from '../../../src/report/html';
import { planJson } from '../../../src/report/json';
import { reportMarkdown } from '../../../src/report/markdown';
import { reportOf } from '../../../src/report/sections';
import { reportText } from '../../../src/report/text';
import { schemaErrors } from './schema';

const compose = (command: string): string =>
  `services:\n  a:\n    image: vllm/vllm-openai:v0.28.0\n    command: ${command}\n`;

const launches: readonly (readonly [string, string])[] = [
  ...readdirSync('samples/vllm')
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => [name, readFileSync(`samples/vllm/${name}`, 'utf8')] as const),
  ...[
    '--model deepseek-ai/DeepSeek-R1 -tp 8',
    '--model deepseek-ai/DeepSeek-R1 -tp 8 --decode-context-parallel-size 8 --kv-cache-dtype fp8',
    '--model meta-llama/Llama-3.1-70B-Instruct -pp 3 --max-model-len 8192',
    '--model openai/gpt-oss-120b -tp 2 --max-model-len auto',
    '--model meta-llama/Llama-3.1-8B-Instruct --max-model-len banana',
    '--model Qwen/Qwen3-Next-80B-A3B-Instruct -tp 4 --max-num-seqs 512',
    '--model openai/whisper-large-v3',
    '--model $MODEL --max-num-seqs $SEQS',
    '--model who/knows --gpu-memory-utilization 1.7 --unheard-of 1',
  ].map((command) => [`${command} (compose.yaml)`, compose(command)] as const),
];

/** NaN, undefined and the like have no place in a text for people. */
const SLIPS = /NaN|undefined|null|Infinity|\[object/;

test.each(launches)('%s: every face follows its contract, with and without a GPU', (_, text) => {
  for (const flags of [{}, { gpu: 'H200' }, { 'kv-memory': '40GiB' }, { 'kv-memory': '1' }]) {
    const name = 'compose.yaml';
    const files = [{ name, text, result: planText({ text, name: _.endsWith(')') ? name : _ }, { flags }) }];
    expect(schemaErrors(planJson(files))).toEqual([]);
    const report = reportOf(files);
    expect(report.plans).toHaveLength(1);
    const faces = [reportText(report, { colour: false, width: 100 }), reportMarkdown(report), reportHtml(report)];
    for (const face of [...faces, reportCsv(files)]) {
      expect(face).not.toMatch(SLIPS);
    }
  }
});
