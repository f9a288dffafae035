/** The tools of agent mode, called as the editor calls them. */
import { assert } from 'chai';
import { CancellationTokenSource, type LanguageModelTextPart, lm } from 'vscode';
import { activate } from './editor';

async function invoke(name: string, input: object): Promise<string> {
  const source = new CancellationTokenSource();
  const result = await lm.invokeTool(name, { input, toolInvocationToken: undefined }, source.token);
  return result.content.map((part) => (part as LanguageModelTextPart).value ?? '').join('');
}

const failure = (name: string, input: object): Promise<string> =>
  invoke(name, input).then(
    (answer) => `answered: ${answer}`,
    (error: Error) => error.message,
  );

/** On a card that has no room for one request of this length. */
const TOO_LONG = { text: 'vllm serve meta-llama/Llama-3.1-8B-Instruct --max-model-len 131072', gpu: 'L4' };

suite('tools for agents', () => {
  suiteSetup(activate);

  test('are known to the editor, each with a schema', () => {
    for (const name of ['kvPlanner_planLaunch', 'kvPlanner_solveForTarget', 'kvPlanner_explainFinding']) {
      const tool = lm.tools.find((t) => t.name === name);
      assert.match(JSON.stringify(tool?.inputSchema), /"file"/, name);
    }
  });

  test('a file of the workspace is planned', async () => {
    const text = await invoke('kvPlanner_planLaunch', { file: 'vllm/llama-3.1-70b-8xh100.compose.yaml' });
    assert.match(text, /\*\*Starts\*\*: yes/);
    assert.match(text, /40,960 bytes \(40 KiB\)/);
  });

  test('a command is planned on the GPU that is asked about', async () => {
    const command = '```\n$ vllm serve Qwen/Qwen3-8B --max-model-len 8192\n```';
    const text = await invoke('kvPlanner_planLaunch', { text: command, gpu: 'H100-80GB', gpus: 1 });
    assert.match(text, /Qwen\/Qwen3-8B · vLLM [\d.]+ · 1 × H100/);
    assert.match(text, /\*\*Fits\*\*: (?:about )?[\d,]+ requests/);
  });

  test('a target is solved', async () => {
    const text = await invoke('kvPlanner_solveForTarget', { ...TOO_LONG, concurrency: 20 });
    assert.match(text, /max-model-len 131072 → \d+/);
  });

  test('a finding is explained with its numbers', async () => {
    const text = await invoke('kvPlanner_explainFinding', { ...TOO_LONG, code: 'length-does-not-fit' });
    assert.match(text, /16\.0 GiB KV cache is needed/);
    assert.match(text, /One request of max length, per GPU \| 17,179,869,184 bytes/);
    assert.match(text, /fix: Set max-model-len to/);
  });

  test('what cannot be answered is told in words', async () => {
    assert.match(await failure('kvPlanner_planLaunch', { file: '../../etc/passwd' }), /not in an opened folder/);
    assert.match(await failure('kvPlanner_planLaunch', {}), /Say which file/);
    assert.match(await failure('kvPlanner_planLaunch', { text: 'echo hello' }), /No launch/);
    assert.match(
      await failure('kvPlanner_solveForTarget', { text: 'vllm serve a/b', concurrency: 0 }),
      /not understood/,
    );
  });
});
