/** Windows' scripts, and tables of jobs and machines: PowerShell, batch, HCL, Cerebrium's TOML. */
import { isFlag, type Renderer, words } from './renderer';

const json = (all: readonly string[]): string => all.map((w) => JSON.stringify(w)).join(', ');

const ps = (word: string): string => (/^[\w+:./=-]+$/.test(word) ? word : `'${word.replaceAll("'", "''")}'`);
const bat = (word: string): string => (/^[\w+:./=,-]+$/.test(word) ? word : `"${word.replaceAll('"', '\\"')}"`);

/** What batch cannot hold in every place is left out. */
const plain = (spec: Parameters<typeof isFlag>[0]): boolean => isFlag(spec) && spec.type !== 'json';

export const renderers: readonly Renderer[] = [
  {
    what: 'PowerShell',
    engine: 'vllm',
    name: 'serve.ps1',
    holds: isFlag,
    render: (choices) => `$m = "org/m"\r\nvllm serve $m \`\r\n  ${words(choices).map(ps).join(' `\r\n  ')}\r\n`,
  },
  {
    what: 'PowerShell, docker with an array',
    engine: 'vllm',
    name: 'serve.ps1',
    holds: isFlag,
    closed: true,
    render: (choices) =>
      `$a = @(\n  "--model", "org/m",\n  ${words(choices)
        .map((w) => `'${w.replaceAll("'", "''")}'`)
        .join(',\n  ')}\n)\ndocker run --gpus all vllm/vllm-openai:v0.10.2 @a\n`,
  },
  {
    what: 'batch',
    engine: 'vllm',
    name: 'serve.bat',
    holds: plain,
    render: (choices) =>
      `@echo off\r\nset M=org/m\r\nvllm serve %M% ^\r\n  ${words(choices).map(bat).join(' ^\r\n  ')}\r\n`,
  },
  {
    what: 'Nomad',
    engine: 'vllm',
    name: 'job.nomad',
    holds: isFlag,
    render: (choices) =>
      `job "j" {\n  task "t" {\n    config {\n      image = "vllm/vllm-openai:v0.10.2"\n      args = ["--model", "org/m", ${json(words(choices))}]\n    }\n  }\n}\n`,
  },
  {
    what: 'Cerebrium, list',
    engine: 'sglang',
    name: 'cerebrium.toml',
    holds: isFlag,
    render: (choices) =>
      `[cerebrium.runtime.custom]\nentrypoint = ["python3", "-m", "sglang.launch_server", "--model-path", "org/m", ${json(words(choices))}]\n`,
  },
];
