/** The forms that were first: shell, compose, Kubernetes, vLLM's config. */
import { isFlag, type Renderer, shellWord, words } from './renderer';

const json = (all: readonly string[]): string => all.map((w) => JSON.stringify(w)).join(', ');

export const renderers: readonly Renderer[] = [
  {
    what: 'shell, one line',
    engine: 'vllm',
    name: 'serve.sh',
    holds: isFlag,
    render: (choices) => `#!/bin/sh\nvllm serve org/m ${words(choices).map(shellWord).join(' ')}\n`,
  },
  {
    what: 'shell, continued lines with CRLF',
    engine: 'sglang',
    name: 'serve.sh',
    holds: isFlag,
    render: (choices) =>
      `python -m sglang.launch_server \\\r\n  --model-path org/m \\\r\n  ${words(choices)
        .map((w) => shellWord(w))
        .join(' \\\r\n  ')}\r\n`,
  },
  {
    what: 'compose, list of words',
    engine: 'vllm',
    name: 'compose.yaml',
    holds: isFlag,
    render: (choices) =>
      `services:\n  a:\n    image: vllm/vllm-openai:v0.10.2\n    command: [--model, org/m, ${json(words(choices))}]\n`,
  },
  {
    what: 'compose, folded scalar',
    engine: 'vllm',
    name: 'compose.yaml',
    holds: isFlag,
    closed: true,
    render: (choices) =>
      `services:\n  a:\n    image: vllm/vllm-openai\n    command: >\n      --model org/m\n      ${words(choices).map(shellWord).join('\n      ')}\n`,
  },
  {
    what: 'kubernetes, args',
    engine: 'vllm',
    name: 'pod.yaml',
    holds: isFlag,
    render: (choices) =>
      `apiVersion: v1\nkind: Pod\nspec:\n  containers:\n    - name: a\n      image: vllm/vllm-openai\n      args:\n        - --model=org/m\n${words(
        choices,
      )
        .map((w) => `        - ${JSON.stringify(w)}\n`)
        .join('')}`,
  },
];
