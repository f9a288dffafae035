/** Files that start no engine: no launch, nothing to complain about. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { bash, read, readFully } from './support';

const modules = fileURLToPath(new URL('../../../node_modules/', import.meta.url));

test('YAML, JSON and shell files of installed packages', async () => {
  const grammars = await bash();
  const files = readdirSync(modules, { recursive: true, encoding: 'utf8' }).filter((f) =>
    /\.(?:ya?ml|sh)$|\/(?:package|tsconfig)\.json$/.test(f),
  );
  expect(files.length).toBeGreaterThan(100);
  for (const file of files.slice(0, 1000)) {
    const result = read(readFileSync(modules + file, 'utf8'), file, { grammars });
    expect([file, result.launches.length, result.problems]).toEqual([file, 0, []]);
  }
});

const made = fileURLToPath(new URL('../../fixtures/ordinary/', import.meta.url));
const ordinary = readdirSync(made, { recursive: true, withFileTypes: true, encoding: 'utf8' })
  .filter((f) => f.isFile())
  .map((f) => relative(made, join(f.parentPath, f.name)).replaceAll('\\', '/'));

test('there are a hundred of them', () => {
  expect(ordinary.length).toBeGreaterThanOrEqual(100);
});

// Clients, benchmarks, routers, exporters, trainers, prose: made for this, each near to a launch in some way.
test.each(ordinary)('%s', async (name) => {
  const text = readFileSync(made + name, 'utf8');
  const result = await readFully(text, name);
  expect(result.launches.map((l) => [l.form, l.engine, text.slice(l.head.start, l.head.end)])).toEqual([]);
  expect(result.problems).toEqual([]);
});

test.each<[string, string, string]>([
  [
    'a web stack',
    'docker-compose.yml',
    'services:\n  redis: {image: redis:7, command: redis-server --maxmemory 2gb}\n  api: {build: ., command: ["uvicorn", "app:app", "--port", "8000"]}\n',
  ],
  [
    'a client of an engine beside it',
    'compose.yaml',
    'services:\n  ui:\n    image: ghcr.io/open-webui/open-webui:main\n    environment: {OPENAI_API_BASE_URL: "http://vllm:8000/v1"}\n',
  ],
  [
    'an engine image that runs a shell',
    'compose.yaml',
    'services:\n  dev: {image: vllm/vllm-openai:v0.9.1, entrypoint: [bash], command: [-c, "sleep infinity"]}\n',
  ],
  [
    'a deployment',
    'deploy.yaml',
    'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  template:\n    spec:\n      containers:\n        - {name: web, image: nginx, args: ["--max-model-len=1"], resources: {limits: {nvidia.com/gpu: 1}}}\n',
  ],
  [
    'a trainer’s config',
    'train.yaml',
    'model: org/m\nblock_size: 1024\ndtype: bfloat16\nseed: 1\nmax_seq_len: 8192\nlearning_rate: 1e-4\n',
  ],
  [
    'a trainer’s rollout without an engine',
    'ppo.yaml',
    'actor_rollout_ref:\n  rollout:\n    name: hf\n    gpu_memory_utilization: 0.4\n    tensor_model_parallel_size: 2\n',
  ],
  [
    'one telling key among others',
    'app.yaml',
    'name: x\nport: 1\nreplicas: 3\nmax_model_len: 8192\nowner: me\nteam: a\n',
  ],
  [
    'a gateway',
    'litellm.yaml',
    'model_list:\n  - model_name: m\n    litellm_params: {model: hosted_vllm/org/m, api_base: "http://vllm:8000"}\n',
  ],
  [
    'a workflow',
    '.github/workflows/ci.yml',
    'on: push\njobs:\n  t:\n    runs-on: ubuntu-latest\n    steps:\n      - run: pip install vllm\n',
  ],
  ['an install script', 'install.sh', '#!/bin/sh\npip install vllm==0.9.1\ndocker pull vllm/vllm-openai:v0.9.1\n'],
  [
    'a benchmark',
    'bench.sh',
    'vllm bench serve --model org/m --num-prompts 10 --max-concurrency 4\npython benchmarks/benchmark_serving.py --backend vllm\n',
  ],
  [
    'help',
    'help.sh',
    'vllm serve --help\nvllm --version\necho "run: vllm serve org/m"\ngrep "vllm serve" README.md\npkill -f "vllm serve"\n',
  ],
  ['a router', 'router.sh', 'python -m sglang_router.launch_router --policy random --worker-urls http://vllm:8000\n'],
  ['notes in a heredoc', 'notes.sh', "cat <<'EOF' > README\nvllm serve org/m --max-model-len 1\nEOF\n"],
  ['comments', 'old.sh', '# vllm serve org/m -tp 8\n: vllm serve org/m\n'],
  ['a file of secrets', '.env', 'VLLM_API_KEY=x\nMODEL=org/m\n'],
  [
    'a client of a server',
    'client.py',
    'from openai import OpenAI\nc = OpenAI(base_url="http://vllm:8000/v1")\nc.chat.completions.create(model="org/m", max_tokens=10)\n',
  ],
  [
    'types of an engine',
    'types.py',
    'import vllm\nfrom vllm import LLM, SamplingParams\n\ndef ask(llm: LLM, p: SamplingParams):\n    return llm.generate("x", p)\n',
  ],
  [
    'another class of that name',
    'other.py',
    'from mylib import LLM\n# not vllm\nLLM(model="org/m", max_model_len=1)\n',
  ],
  [
    'a setup that asks for an engine',
    'setup.py',
    'from setuptools import setup\nsetup(name="x", install_requires=["vllm==0.9.1"])\n',
  ],
  [
    'commands that start nothing',
    'tools.py',
    'import subprocess\nsubprocess.run(["pip", "install", "vllm"])\nsubprocess.run("vllm bench serve --model m", shell=True)\nsubprocess.run(["pkill", "-f", "vllm serve"])\nprint(["vllm", "serve", "org/m"][0])\n',
  ],
  [
    'arguments of a command line alone',
    'main.py',
    'from vllm import EngineArgs, LLM\nargs = EngineArgs.from_cli_args(parse())\nLLM(**vars(args))\n',
  ],
  [
    'an image that is only built on',
    'Dockerfile',
    'FROM vllm/vllm-openai:v0.9.1\nRUN pip install vllm==0.9.1 && vllm --version\nCOPY . /app\n',
  ],
  [
    'an image of a client',
    'Dockerfile',
    'FROM python:3.12\nRUN pip install openai # vllm serve\nCMD ["python", "client.py", "--base-url", "http://vllm:8000"]\n',
  ],
  [
    'recipes that start nothing',
    'Makefile',
    'test:\n\tpip install vllm\n\tvllm bench serve --model m\n# serve: vllm serve m\ninstall:\n\tdocker pull vllm/vllm-openai:latest\n',
  ],
  [
    'a runbook of a client',
    'README.md',
    '# x\n\n```sh\npip install vllm\ncurl http://vllm:8000\n```\n\n```\nINFO vllm serve is up: vllm serve --model m\n```\n\n    vllm serve org/indented\n',
  ],
  [
    'a notebook of a client',
    'n.ipynb',
    '{"cells":[{"cell_type":"markdown","source":["vllm serve m"]},{"cell_type":"code","source":["!pip install vllm\\n","print(1)"]}]}',
  ],
  [
    'a script of Windows',
    'build.ps1',
    '# vllm serve m\n$x = @("a")\npip install vllm\nWrite-Host "vllm serve org/m"\ndocker pull vllm/vllm-openai\nInvoke-RestMethod http://vllm:8000\n',
  ],
  [
    'another',
    'build.bat',
    '@echo off\nrem vllm serve m\npip install vllm\necho vllm serve m\nvllm --version\ncurl http://vllm:8000\n',
  ],
  [
    'a job of something else',
    'web.nomad',
    'job "web" {\n  # vllm serve m\n  task "t" {\n    config {\n      image = "nginx"\n      args = ["--upstream", "vllm:8000"]\n    }\n  }\n}\n',
  ],
  [
    'a machine for something else',
    'main.tf',
    'resource "aws_instance" "x" {\n  instance_type = "p5.48xlarge"\n  user_data = <<-EOF\n    pip install vllm\n  EOF\n}\n',
  ],
  ['an app without an entry', 'cerebrium.toml', '[cerebrium.dependencies.pip]\nvllm = "latest"\n'],
  ['prose', 'README.md', 'Run `vllm serve org/m`.\n'],
])('%s', async (_what, name, text) => {
  const result = await readFully(text, name);
  expect(result.launches.map((l) => text.slice(l.head.start, l.head.end))).toEqual([]);
  expect(result.problems).toEqual([]);
});

test('a shell file that names no engine does not ask for the grammar', () => {
  expect(read('#!/bin/sh\nls\n', 'x.sh').needs.grammars).toEqual([]);
  expect(read('vllm serve m\n', 'x.sh').needs.grammars).toEqual(['bash']);
});
