/** Python: keywords of a call, an object of keywords, words of a list, a text for a shell. */
import type { Choice } from '../choices';
import { isFlag, type Renderer, shellWord, words } from './renderer';

/** As Python writes the value. */
function literal({ spec, text, value }: Choice): string {
  if (typeof value === 'boolean') {
    return value ? 'True' : 'False';
  }
  return typeof value === 'number' || spec.type === 'json' ? text : JSON.stringify(value);
}

const keyword = (choice: Choice): string => `${choice.spec.name.replaceAll('-', '_')}=${literal(choice)}`;

const json = (all: readonly string[]): string => all.map((w) => JSON.stringify(w)).join(', ');

export const renderers: readonly Renderer[] = [
  {
    what: 'Python, keywords on one line',
    engine: 'vllm',
    name: 'run.py',
    holds: isFlag,
    render: (choices) => `from vllm import LLM\nllm = LLM("org/m", ${choices.map(keyword).join(', ')})\n`,
  },
  {
    what: 'Python, keywords on lines with CRLF',
    engine: 'sglang',
    name: 'run.py',
    holds: isFlag,
    render: (choices) =>
      `import sglang as sgl\r\n\r\ne = sgl.Engine(\r\n    model_path='org/m',  # 模型\r\n${choices.map((c) => `    ${keyword(c)},\r\n`).join('')})\r\n`,
  },
  {
    what: 'Python, TensorRT-LLM',
    engine: 'tensorrt-llm',
    name: 'run.py',
    holds: isFlag,
    render: (choices) =>
      `from tensorrt_llm import LLM\nx = 1; llm = LLM(model="org/m", ${choices.map(keyword).join(', ')})\n`,
  },
  {
    what: 'Python, map of keywords',
    engine: 'vllm',
    name: 'run.py',
    holds: isFlag,
    render: (choices) =>
      `from vllm import AsyncEngineArgs\nkw = {\n    "model": "org/m",\n${choices.map((c) => `    "${c.spec.name.replaceAll('-', '_')}": ${literal(c)},\n`).join('')}}\nargs = AsyncEngineArgs(**kw)\n`,
  },
  {
    what: 'Python, engine config of lmdeploy',
    engine: 'lmdeploy',
    name: 'run.py',
    closed: true,
    holds: isFlag,
    render: (choices) =>
      `from lmdeploy import pipeline, TurbomindEngineConfig\np = pipeline("org/m", backend_config=TurbomindEngineConfig(${choices.map(keyword).join(', ')}))\n`,
  },
  {
    what: 'Python, words of a list',
    engine: 'vllm',
    name: 'run.py',
    holds: isFlag,
    render: (choices) =>
      `import subprocess\ncmd = ["vllm", "serve", "org/m"]\ncmd += [${json(words(choices))}]\nsubprocess.run(cmd)\n`,
  },
  {
    what: 'Python, text for a shell',
    engine: 'sglang',
    name: 'run.py',
    holds: isFlag,
    render: (choices) =>
      `import os\nos.system("python -m sglang.launch_server --model-path org/m ${words(choices).map(shellWord).join(' ').replaceAll(/["\\]/g, '\\$&')}")\n`,
  },
  {
    what: 'Python, words for a container',
    engine: 'vllm',
    name: 'run.py',
    holds: isFlag,
    render: (choices) =>
      `import docker\nc = docker.from_env()\nc.containers.run("vllm/vllm-openai:v0.10.2", ["--model", "org/m", ${json(words(choices))}], detach=True)\n`,
  },
  {
    what: 'Python, text for a container',
    engine: 'sglang',
    name: 'run.py',
    holds: isFlag,
    render: (choices) =>
      `import docker\ndocker.from_env().containers.run(image="lmsysorg/sglang:v0.5.2", command="python3 -m sglang.launch_server --model-path org/m ${words(choices).map(shellWord).join(' ').replaceAll(/["\\]/g, '\\$&')}")\n`,
  },
];
