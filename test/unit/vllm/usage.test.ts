/** A program's own engine has other batch limits than the server. Source: vLLM 0.28, engine/arg_utils.py :: get_batch_defaults. */
import { expect, test } from 'vitest';
import { planText } from '../../../src/planner';
import { loadedGrammars, readFully } from '../launch/support';

const defaults = async (text: string, name: string, gpu: string) => {
  await readFully(text, name); // loads the grammar
  const { plans } = planText({ text, name, grammars: loadedGrammars() }, { flags: { gpu, engine: 'vllm@0.12' } });
  const value = (option: string) => plans[0]?.options.findLast((o) => o.name === option)?.value;
  return [value('max-num-batched-tokens'), value('max-num-seqs')];
};
const program = (call: string) =>
  `from vllm import LLM, AsyncEngineArgs\nengine = ${call}(model="meta-llama/Llama-3.1-8B-Instruct")\n`;

test.each([
  ['vllm serve meta-llama/Llama-3.1-8B-Instruct\n', 'serve.sh', 'H100-80GB', [8192, 1024]],
  [program('LLM'), 'run.py', 'H100-80GB', [16384, 1024]],
  [program('LLM'), 'run.py', 'A100-80GB', [8192, 256]],
  [program('LLM'), 'run.py', 'L4', [8192, 256]],
  [program('AsyncEngineArgs'), 'run.py', 'H100-80GB', [2048, 128]],
])('%j as %s on %s', async (text, name, gpu, expected) => {
  expect(await defaults(text, name, gpu)).toEqual(expected);
});
