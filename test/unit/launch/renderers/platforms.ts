/** Serving platforms: Kubernetes and its operators, Helm values, Ray, SkyPilot, pipelines, Truss, dstack, BentoML. */
import type { OptionSpec } from '../../../../src/core/engines/option';
import type { Choice } from '../choices';
import { isFlag, type Renderer, shellWord, words } from './renderer';

const block = (all: readonly string[], indent: number): string =>
  all.map((w) => `${' '.repeat(indent)}- ${JSON.stringify(w)}\n`).join('');

const flow = (all: readonly string[]): string => `[${all.map((w) => JSON.stringify(w)).join(', ')}]`;

const command = (choices: readonly Choice[]): readonly string[] => words(choices).map(shellWord);

/** A value as a chart or a config has it: numbers and booleans bare, all else in quotes. */
const typed = ({ spec, text }: Choice): string =>
  ['int', 'human-int', 'float', 'flag'].includes(spec.type) && /^(?:[\d.]+|true|false)$/.test(text)
    ? text
    : JSON.stringify(text);

const camel = (name: string): string => name.replace(/[-_](\w)/g, (_, c: string) => c.toUpperCase());
const snake = (name: string): string => name.replaceAll('-', '_');

const keys = (choices: readonly Choice[], indent: number, spell: (name: string) => string): string =>
  choices.map((c) => `${' '.repeat(indent)}${spell(c.spec.name)}: ${typed(c)}\n`).join('');

/** What one key of a map can say. */
const isKey = (spec: OptionSpec): boolean =>
  isFlag(spec) && spec.type !== 'json' && spec.type !== 'list' && /^[a-z][a-z_-]*$/.test(spec.name);

const LLAMA: Readonly<Record<string, string>> = {
  'ctx-size': 'contextSize',
  parallel: 'parallelSlots',
  'cache-type-k': 'cacheTypeK',
  'cache-type-v': 'cacheTypeV',
  'batch-size': 'batchSize',
  'ubatch-size': 'uBatchSize',
};

const environment = (choices: readonly Choice[], indent: number): string =>
  choices
    .map(({ spec, text }) => {
      const space = ' '.repeat(indent);
      return `${space}- name: ${spec.env}\n${space}  value: ${JSON.stringify(text)}\n`;
    })
    .join('');

const inEnvironment = (spec: OptionSpec): boolean =>
  spec.env !== undefined && spec.type !== 'flag' && spec.type !== 'list' && spec.type !== 'json';

const pod = (image: string, rest: string): string =>
  `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\nspec:\n  template:\n    spec:\n      containers:\n        - name: a\n          image: ${image}\n${rest}`;

export const renderers: readonly Renderer[] = [
  {
    what: 'KServe predictor',
    engine: 'vllm',
    name: 'service.yaml',
    holds: (s) =>
      isFlag(s) && s.name !== 'disable-log-requests' && s.name !== 'tokenizer-revision' && s.name !== 'task',
    render: (c) =>
      `apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: x}\nspec:\n  predictor:\n    model:\n      modelFormat: {name: huggingface}\n      storageUri: hf://org/m\n      args:\n${block(words(c), 8)}`,
  },
  {
    what: 'LLMInferenceService, options in a variable',
    engine: 'vllm',
    name: 'service.yaml',
    holds: isFlag,
    render: (c) =>
      `apiVersion: serving.kserve.io/v1alpha1\nkind: LLMInferenceService\nmetadata: {name: x}\nspec:\n  model: {uri: "hf://org/m"}\n  template:\n    containers:\n      - name: main\n        env:\n          - name: VLLM_ADDITIONAL_ARGS\n            value: ${JSON.stringify(command(c).join(' '))}\n`,
  },
  {
    what: 'KubeAI model',
    engine: 'vllm',
    name: 'model.yaml',
    holds: isFlag,
    render: (c) =>
      `apiVersion: kubeai.org/v1\nkind: Model\nmetadata: {name: x}\nspec:\n  url: hf://org/m\n  engine: VLLM\n  resourceProfile: nvidia-gpu-l4:1\n  args:\n${block(words(c), 4)}`,
  },
  {
    what: 'llmkube service',
    engine: 'llama-cpp',
    name: 'service.yaml',
    holds: (s) => LLAMA[s.name] !== undefined,
    render: (c) =>
      `apiVersion: inference.llmkube.dev/v1alpha1\nkind: InferenceService\nmetadata: {name: x}\nspec:\n  modelRef: m\n${keys(c, 2, (n) => LLAMA[n] ?? n)}`,
  },
  {
    what: 'Dynamo worker',
    engine: 'sglang',
    name: 'graph.yaml',
    holds: isFlag,
    render: (c) =>
      `apiVersion: nvidia.com/v1alpha1\nkind: DynamoGraphDeployment\nmetadata: {name: x}\nspec:\n  services:\n    Worker:\n      extraPodSpec:\n        mainContainer:\n          image: nvcr.io/nvidia/ai-dynamo/sglang-runtime:0.6.1\n          command: [python3, -m, dynamo.sglang]\n          args: ${flow(['--model-path', 'org/m', ...words(c)])}\n`,
  },
  {
    what: 'OME runner, folded script with CRLF',
    engine: 'sglang',
    name: 'runtime.yaml',
    holds: isFlag,
    render: (c) =>
      `apiVersion: ome.io/v1beta1\nkind: ServingRuntime\nmetadata: {name: x}\nspec:\n  engineConfig:\n    runner:\n      name: ome-container\n      image: lmsysorg/sglang:v0.5.6\n      command: [sh, -c]\n      args:\n        - >-\n          python3 -m sglang.launch_server\n          --model-path org/m\n${command(
        c,
      )
        .map((w) => `          ${w}\n`)
        .join('')}`.replaceAll('\n', '\r\n'),
  },
  {
    what: 'kubernetes, variables',
    engine: 'tgi',
    name: 'deployment.yaml',
    holds: inEnvironment,
    render: (c) =>
      pod(
        'ghcr.io/huggingface/text-generation-inference:3.3.4',
        `          env:\n            - {name: MODEL_ID, value: org/m}\n${environment(c, 12)}`,
      ),
  },
  {
    what: 'kubernetes, variables alone',
    engine: 'ollama',
    name: 'deployment.yaml',
    holds: inEnvironment,
    render: (c) => pod('ollama/ollama:0.12.3', `          env:\n${environment(c, 12)}`),
  },
  {
    what: 'compose, variables in a map',
    engine: 'tgi',
    name: 'compose.yaml',
    holds: inEnvironment,
    render: (c) =>
      `services:\n  a:\n    image: ghcr.io/huggingface/text-generation-inference:3.3.4\n    environment:\n      MODEL_ID: org/m\n${c.map(({ spec, text }) => `      ${spec.env}: ${JSON.stringify(text)}\n`).join('')}    shm_size: 1g\n`,
  },
  {
    what: 'compose, variables in a list',
    engine: 'ollama',
    name: 'compose.yaml',
    holds: inEnvironment,
    render: (c) =>
      `services:\n  a:\n    image: ollama/ollama:0.12.3\n    environment:\n${c.map(({ spec, text }) => `      - ${spec.env}=${text}\n`).join('')}`,
  },
  {
    what: 'compose, extended service',
    engine: 'vllm',
    name: 'compose.yaml',
    holds: isFlag,
    render: (c) =>
      `services:\n  base:\n    image: vllm/vllm-openai\n    deploy: {replicas: 0}\n    command: ${flow(['--model', 'org/m', ...words(c)])}\n  a:\n    extends: {service: base}\n    deploy: {replicas: 1}\n`,
  },
  {
    what: 'Helm template around a script',
    engine: 'vllm',
    name: 'templates/deployment.yaml',
    holds: isFlag,
    render: (c) =>
      `{{- if .Values.on }}\n${pod(
        '"{{ .Values.image }}"',
        `          command: [sh, -c]\n          args:\n            - |\n              exec vllm serve org/m \\\n              {{- if .Values.fp8 }}\n                --our-own 1 \\\n              {{- end }}\n                ${command(
          c,
        ).join(' \\\n                ')}\n`,
      )}{{- end }}\n`,
  },
  {
    what: 'production stack, keys',
    engine: 'vllm',
    name: 'values.yaml',
    holds: isKey,
    render: (c) =>
      `servingEngineSpec:\n  modelSpec:\n    - name: x\n      repository: vllm/vllm-openai\n      tag: v0.10.2\n      modelURL: org/m\n      requestGPU: 1\n      vllmConfig:\n${keys(c, 8, camel)}routerSpec: {enableRouter: true}\n`,
  },
  {
    what: 'llm-d, args',
    engine: 'vllm',
    name: 'ms.yaml',
    holds: isFlag,
    render: (c) =>
      `modelArtifacts: {uri: "hf://org/m", name: org/m}\ndecode:\n  containers:\n    - name: vllm\n      image: ghcr.io/llm-d/llm-d-cuda:v0.3.0\n      modelCommand: vllmServe\n      args:\n${block(words(c), 8)}`,
  },
  {
    what: 'Ray Serve, keyword arguments',
    engine: 'vllm',
    name: 'serve.yaml',
    holds: isKey,
    render: (c) =>
      `applications:\n  - name: a\n    import_path: ray.serve.llm:build_openai_app\n    args:\n      llm_configs:\n        - model_loading_config: {model_id: org/m}\n          engine_kwargs:\n${keys(c, 12, snake)}          accelerator_type: L4\n`,
  },
  {
    what: 'RayService, YAML in YAML',
    engine: 'vllm',
    name: 'service.yaml',
    holds: isKey,
    render: (c) =>
      `apiVersion: ray.io/v1\nkind: RayService\nspec:\n  serveConfigV2: |\n    applications:\n    - import_path: ray.serve.llm:build_openai_app\n      args:\n        llm_configs:\n        - model_loading_config: {model_id: org/m}\n          engine_kwargs:\n${keys(c, 12, snake)}  rayClusterConfig: {rayVersion: 2.46.0}\n`,
  },
  {
    what: 'SkyPilot',
    engine: 'vllm',
    name: 'task.yaml',
    holds: isFlag,
    render: (c) =>
      `resources: {accelerators: L4:1}\nenvs: {M: org/m}\nrun: |\n  echo go\n  vllm serve $M \\\n    ${command(c).join(' \\\n    ')}\n`,
  },
  {
    what: 'GitHub Actions',
    engine: 'vllm',
    name: '.github/workflows/a.yml',
    holds: isFlag,
    render: (c) =>
      `on: push\nenv: {M: org/m}\njobs:\n  a:\n    runs-on: gpu\n    steps:\n      - run: |\n          vllm serve \${{ env.M }} ${command(c).join(' ')}\n`,
  },
  {
    what: 'GitLab CI',
    engine: 'vllm',
    name: '.gitlab-ci.yml',
    holds: isFlag,
    render: (c) =>
      `serve:\n  script:\n    - export M=org/m\n    - >-\n      vllm serve $M\n${command(c)
        .map((w) => `      ${w}\n`)
        .join('')}    - sleep 1\n`,
  },
  {
    what: 'Argo Workflow, script',
    engine: 'sglang',
    name: 'workflow.yaml',
    holds: isFlag,
    render: (c) =>
      `apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nspec:\n  arguments: {parameters: [{name: m, value: org/m}]}\n  templates:\n    - name: a\n      script:\n        image: lmsysorg/sglang:v0.5.2\n        command: [bash]\n        source: |\n          python3 -m sglang.launch_server --model-path {{workflow.parameters.m}} \\\n            ${command(c).join(' \\\n            ')}\n`,
  },
  {
    what: 'Tekton step, args',
    engine: 'vllm',
    name: 'task.yaml',
    holds: isFlag,
    render: (c) =>
      `apiVersion: tekton.dev/v1\nkind: Task\nspec:\n  params: [{name: m, default: org/m}]\n  steps:\n    - name: a\n      image: vllm/vllm-openai:v0.10.2\n      args:\n        - --model=$(params.m)\n${block(words(c), 8)}`,
  },
  {
    what: 'Ansible, shell',
    engine: 'vllm',
    name: 'site.yml',
    holds: isFlag,
    render: (c) =>
      `- hosts: gpu\n  vars: {m: org/m}\n  tasks:\n    - name: serve\n      ansible.builtin.shell: |\n        vllm serve {{ m }} \\\n          ${command(c).join(' \\\n          ')}\n`,
  },
  {
    what: 'Ansible, container',
    engine: 'sglang',
    name: 'main.yml',
    holds: isFlag,
    render: (c) =>
      `- name: serve\n  become: true\n  community.docker.docker_container:\n    name: a\n    image: lmsysorg/sglang:v0.5.2\n    command: ${flow(['python3', '-m', 'sglang.launch_server', '--model-path', 'org/m', ...words(c)])}\n`,
  },
  {
    what: 'Taskfile',
    engine: 'llama-cpp',
    name: 'Taskfile.yml',
    // Its switches have rows of their own for `--no-`.
    holds: (s) => isFlag(s) && s.type !== 'flag',
    render: (c) =>
      `version: '3'\nvars: {M: a.gguf}\ntasks:\n  serve:\n    cmds:\n      - |\n        llama-server -m {{.M}} \\\n          ${command(c).join(' \\\n          ')}\n`,
  },
  {
    what: 'Truss, command',
    engine: 'vllm',
    name: 'config.yaml',
    holds: isFlag,
    render: (c) =>
      `model_name: x\ndocker_server:\n  server_port: 8000\n  start_command: ${JSON.stringify(`vllm serve org/m ${command(c).join(' ')}`)}\nresources: {accelerator: L4}\n`,
  },
  {
    what: 'Truss, model metadata',
    engine: 'vllm',
    name: 'config.yaml',
    holds: isKey,
    render: (c) =>
      `model_name: x\nmodel_metadata:\n  repo_id: org/m\n  vllm_config:\n${keys(c, 4, snake)}resources: {accelerator: L4}\n`,
  },
  {
    what: 'dstack',
    engine: 'sglang',
    name: 'a.dstack.yml',
    holds: isFlag,
    render: (c) =>
      `type: service\nenv: [M=org/m]\ncommands:\n  - |\n    python3 -m sglang.launch_server --model-path $M \\\n      ${command(c).join(' \\\n      ')}\nresources: {gpu: L4:1}\n`,
  },
  {
    what: 'OpenLLM recipe',
    engine: 'vllm',
    name: 'recipe.yaml',
    holds: isKey,
    render: (c) =>
      `"m:1b":\n  project: vllm-chat\n  service_config: {resources: {gpu: 1}}\n  engine_config:\n    model: org/m\n${keys(c, 4, snake)}`,
  },
];
