/** Forms of lines: Modelfile, `.env` files, systemd units, presets of llama.cpp. */
import { isFlag, type Renderer, shellWord, words } from './renderer';

export const renderers: readonly Renderer[] = [
  {
    what: 'Modelfile',
    engine: 'ollama',
    name: 'Modelfile',
    holds: (spec) => spec.env === undefined,
    render: (choices) =>
      `FROM llama3.1:8b\n${choices.map(({ spec, text }) => `PARAMETER ${spec.name} ${text}\n`).join('')}SYSTEM """\nPARAMETER num_ctx 1\n"""\n`,
  },
  {
    what: '.env with comments',
    engine: 'ollama',
    name: '.env',
    holds: (spec) => spec.name.startsWith('OLLAMA_') && spec.effect !== undefined,
    render: (choices) => choices.map(({ spec, text }) => `${spec.name}="${text}" # note\n`).join(''),
  },
  {
    what: '.env, flags in a value',
    engine: 'vllm',
    name: 'prod.env',
    holds: (spec) => isFlag(spec) && spec.type !== 'json',
    render: (choices) => `TOKEN=x\nVLLM_ARGS='${words(choices).join(' ')}'\n`,
  },
  {
    what: 'systemd, continued lines with CRLF',
    engine: 'llama-cpp',
    name: 'llama.service',
    holds: (spec) => isFlag(spec) && spec.type !== 'flag',
    render: (choices) =>
      `[Service]\r\nExecStart=/usr/bin/llama-server -m /m.gguf \\\r\n  ${words(choices).map(shellWord).join(' \\\r\n# note \\\r\n  ')}\r\nRestart=always\r\n`,
  },
  {
    what: 'systemd, variables',
    engine: 'ollama',
    name: 'ollama.service',
    holds: (spec) => spec.name.startsWith('OLLAMA_'),
    render: (choices) =>
      `[Service]\nExecStart=/usr/local/bin/ollama serve\n${choices.map(({ spec, text }) => `Environment="${spec.name}=${text}"\n`).join('')}`,
  },
  {
    what: 'llama.cpp presets',
    engine: 'llama-cpp',
    name: 'models.preset.ini',
    holds: (spec) => isFlag(spec) && spec.name !== 'model' && spec.name !== 'hf-repo',
    render: (choices) =>
      `version = 1\n[org/m-GGUF:Q8_0]\nmodel = m.gguf\n${choices.map(({ spec, text }) => `${spec.name} = ${text} ; note\n`).join('')}`,
  },
];
