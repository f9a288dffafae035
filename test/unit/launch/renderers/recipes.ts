/** Files that hold commands: Dockerfiles, Makefiles, justfiles, Markdown, notebooks. */
import { isFlag, type Renderer, shellWord, words } from './renderer';

const json = (all: readonly string[]): string => all.map((w) => JSON.stringify(w)).join(', ');

/** A `$` is Make's own. */
const made = (word: string): string => shellWord(word).replaceAll('$', '$$$$');

export const renderers: readonly Renderer[] = [
  {
    what: 'Dockerfile, exec form',
    engine: 'vllm',
    name: 'Dockerfile',
    holds: isFlag,
    render: (choices) => `FROM vllm/vllm-openai:v0.10.2\nCMD ["--model", "org/m", ${json(words(choices))}]\n`,
  },
  {
    what: 'Dockerfile, shell form',
    engine: 'sglang',
    name: 'serve.Dockerfile',
    holds: isFlag,
    render: (choices) =>
      `FROM lmsysorg/sglang:latest\nENTRYPOINT python3 -m sglang.launch_server \\\n    --model-path org/m \\\n    # 模型\n    ${words(choices).map(shellWord).join(' \\\n    ')}\n`,
  },
  {
    what: 'Makefile',
    engine: 'vllm',
    name: 'Makefile',
    holds: isFlag,
    render: (choices) =>
      `M := org/m\nserve:\n\t@vllm serve $(M) \\\n\t  ${words(choices).map(made).join(' \\\n\t  ')}\n`,
  },
  {
    what: 'Makefile, options in a variable',
    engine: 'vllm',
    name: 'Makefile',
    closed: true,
    holds: (spec) => isFlag(spec) && spec.type !== 'json',
    render: (choices) => `ARGS = ${words(choices).map(made).join(' ')}\nserve:\n\tvllm serve org/m $(ARGS)\n`,
  },
  {
    what: 'Makefile, a recipe that is called',
    engine: 'vllm',
    name: 'Makefile',
    holds: isFlag,
    render: (choices) =>
      `define SERVE\n@vllm serve $(1) \\\n  ${words(choices).map(made).join(' ')}\nendef\nserve:\n\t$(call SERVE,org/m)\n`,
  },
  {
    what: 'justfile',
    engine: 'llama-cpp',
    name: 'justfile',
    // Its switches have rows of their own for `--no-`.
    holds: (spec) => isFlag(spec) && spec.type !== 'flag',
    render: (choices) =>
      `m := "a.gguf"\nserve:\n    @llama-server -m {{m}} ${words(choices).map(shellWord).join(' ')}\n`,
  },
  {
    what: 'Markdown, shell',
    engine: 'vllm',
    name: 'README.md',
    holds: isFlag,
    render: (choices) =>
      `# A 😀\r\n\r\n\`\`\`sh\r\nvllm serve org/m ${words(choices).map(shellWord).join(' ')}\r\n\`\`\`\r\n`,
  },
  {
    what: 'Markdown, YAML in a list',
    engine: 'vllm',
    name: 'README.md',
    holds: isFlag,
    render: (choices) =>
      `1. Compose:\n\n   \`\`\`yaml\n   services:\n     a:\n       image: vllm/vllm-openai\n       command: [--model, org/m, ${json(words(choices))}]\n   \`\`\`\n`,
  },
  {
    what: 'notebook, keywords',
    engine: 'vllm',
    name: 'n.ipynb',
    closed: true,
    holds: (spec) => isFlag(spec) && spec.type !== 'json' && spec.type !== 'list',
    render: (choices) => {
      const keyword = ({ spec, text, value }: (typeof choices)[number]) =>
        `${spec.name.replaceAll('-', '_')}=${typeof value === 'boolean' ? (value ? 'True' : 'False') : typeof value === 'number' ? text : JSON.stringify(text)}`;
      const lines = [
        'from vllm import LLM\n',
        ...choices.map((c, i) => `${i === 0 ? 'm = LLM("org/m", ' : '  '}${keyword(c)},\n`),
        ')',
      ];
      return JSON.stringify({ cells: [{ cell_type: 'code', outputs: [], source: lines }], nbformat: 4 }, undefined, 1);
    },
  },
];
