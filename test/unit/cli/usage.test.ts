import { expect, test } from 'vitest';
import { run } from './run';

test.each([
  [[], /Usage: kv-planner/],
  [['report'], /missing required argument/],
  [['slove', 'x.yaml'], /unknown command 'slove'/],
  [['solve', 'x.yaml'], /required option '--concurrency <N>'/],
  [['solve', 'x.yaml', '--concurrency', '0'], /whole number from 1/],
  [['solve', 'x.yaml', '--concurrency', '2', '--length', '1'], /whole number from 2/],
  [['solve', 'x.yaml', '--concurrency', '2', '--format', 'csv'], /Allowed choices are text, json/],
  [['compose.yaml'], /unknown command 'compose.yaml'/],
  [['report', 'x.yaml', '--gpuu', 'L4'], /unknown option '--gpuu'/],
  [['report', 'x.yaml', '--format', 'xml'], /Allowed choices are text, markdown, json, csv, html/],
  [['report', 'x.yaml', '--form', 'toml'], /Allowed choices are shell, yaml, compose/],
  [['report', 'x.yaml', '--gpus', '0'], /whole number from 1/],
  [['report', 'x.yaml', '--gpus', '1.5'], /whole number/],
  [['report', 'x.yaml', '--prompt', '-3'], /whole number|argument missing/],
  [['report', 'x.yaml', '--kv-memory', 'banana'], /58\.11GiB/],
  [['report', 'x.yaml', '--gpu-memory', '0'], /must be a size/],
  [['report', 'x.yaml', '--require-concurrency', 'many'], /whole number/],
  [['report', 'x.yaml', '--name', 'y.yaml'], /standard input/],
  [['report', '-', '-'], /once/],
  [['report', 'x.yaml', '--engine', 'vlm@0.28'], /unknown engine 'vlm': known are vllm/],
  [['report', 'x.yaml', '--engine', 'vllm@new'], /no version of vllm/],
  [['simulate', 'x.yaml', '--think', '5'], /say how many there are with --turns/],
] as const)('%j is wrong usage', async (args, message) => {
  const { code, out, notes } = await run(args);
  expect(code).toBe(2);
  expect(out).toBe('');
  expect(notes.join('\n')).toMatch(message);
});

test.each(['llama.cpp', 'TensorRT-LLM', 'trtllm', 'SGLang@0.5'])('compare takes %s for an engine', async (engine) => {
  const { code, notes } = await run(['compare', 'samples/vllm/llama-3.1-70b-8xh100.compose.yaml', '--engines', engine]);
  expect([code, notes.join()]).toEqual([0, expect.not.stringMatching(/unknown engine/)]);
});

test.each([
  [['--version'], /^0\.\d+\.\d+\n$/],
  [['--help'], /report.*Plan every launch/],
  [['report', '--help'], /Exit status:[\s\S]*2 comes before 1, and 1 before 3/],
] as const)('%j is answered on standard output', async (args, message) => {
  const { code, out } = await run(args);
  expect(code).toBe(0);
  expect(out).toMatch(message);
});
