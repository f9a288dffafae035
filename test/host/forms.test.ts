/** Every surface on launches of many forms, each a file as its editor knows it: its name decides its language. */
import { assert } from 'chai';
import { activate, hintsOf, hoverOver, lensesOf, openSample, openText } from './editor';

interface Case {
  readonly file: string;
  readonly language: string;
  readonly text: string;
  /** What the pointer rests on. */
  readonly over: string;
  readonly hover: RegExp;
  /** What stands behind a value. */
  readonly hint?: RegExp;
}

const LLAMA = 'meta-llama/Llama-3.1-8B-Instruct';

const CASES: readonly Case[] = [
  {
    file: 'compose.yaml',
    language: 'dockercompose|yaml',
    text: `services:\n  llm:\n    # kv-planner: gpu=L4\n    image: vllm/vllm-openai:v0.28.0\n    command: --model ${LLAMA} --max-model-len 8192\n`,
    over: '--max-model-len',
    hover: /1\.00 GiB per request/,
    hint: /^1\.00 GiB\/request$/,
  },
  {
    file: 'deployment.yaml',
    language: 'yaml',
    text: `# kv-planner: gpu=L4\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: llm\nspec:\n  template:\n    spec:\n      containers:\n        - image: vllm/vllm-openai:v0.28.0\n          args:\n            - --model\n            - ${LLAMA}\n            - --max-model-len\n            - "8192"\n`,
    over: '--max-model-len',
    hover: /1\.00 GiB per request/,
    hint: /^1\.00 GiB\/request$/,
  },
  {
    file: 'llama.vllm.yaml',
    language: 'yaml',
    text: `# kv-planner: gpu=L4\nmodel: ${LLAMA}\nmax-model-len: 8192\n`,
    over: 'max-model-len',
    hover: /1\.00 GiB per request/,
    hint: /^1\.00 GiB\/request$/,
  },
  {
    file: 'serve.sh',
    language: 'shellscript',
    text: `#!/bin/sh\n# kv-planner: gpu=L4\nLEN=8192\nvllm serve ${LLAMA} \\\n  --max-model-len $LEN --kv-cache-dtype fp8\n`,
    over: '--kv-cache-dtype',
    hover: /64 KiB per token and GPU/,
    hint: /^64 KiB\/token in all$/,
  },
  {
    file: 'docker.sh',
    language: 'shellscript',
    text: `# kv-planner: gpu=A100-80GB\ndocker run --gpus all lmsysorg/sglang:v0.5.9 python3 -m sglang.launch_server --model-path ${LLAMA} --mem-fraction-static 0.8\n`,
    over: '--mem-fraction-static',
    hover: /is left for KV/,
    hint: /GiB for KV$/,
  },
  {
    file: 'Modelfile',
    language: 'modelfile',
    text: '# kv-planner: gpu=L4\nFROM llama3.1:8b\nPARAMETER num_ctx 8192\n',
    over: 'num_ctx',
    hover: /per request/,
    hint: /GiB\/request$/,
  },
  {
    file: 'tgi.env',
    language: 'dotenv|plaintext|properties',
    text: `# kv-planner: gpu=L4\nMODEL_ID=${LLAMA}\nMAX_TOTAL_TOKENS=8192\nMAX_INPUT_TOKENS=7168\n`,
    over: 'MAX_TOTAL_TOKENS',
    hover: /per request/,
    hint: /GiB\/request$/,
  },
  {
    file: 'ollama.service',
    language: 'plaintext|ini|properties|systemd-unit-file',
    text: '# kv-planner: gpu=L4 model=meta-llama/Llama-3.1-8B-Instruct\n[Service]\nExecStart=/usr/local/bin/ollama serve\nEnvironment="OLLAMA_CONTEXT_LENGTH=8192" "OLLAMA_NUM_PARALLEL=2"\n',
    over: 'OLLAMA_CONTEXT_LENGTH',
    hover: /per request/,
    hint: /GiB\/request$/,
  },
  {
    file: 'vllm.container',
    language: 'plaintext|ini|properties|systemd-unit-file',
    text: `# kv-planner: gpu=L4\n[Container]\nImage=docker.io/vllm/vllm-openai:v0.28.0\nExec=--model ${LLAMA} --max-model-len 8192\n`,
    over: '--max-model-len',
    hover: /1\.00 GiB per request/,
    hint: /^1\.00 GiB\/request$/,
  },
  {
    file: 'models.preset.ini',
    language: 'ini|properties',
    text: '; kv-planner: gpu=L4 model=meta-llama/Llama-3.1-8B-Instruct\n[llama]\nmodel = /models/llama-3.1-8b-instruct-q4_k_m.gguf\nctx-size = 8192\n',
    over: 'ctx-size',
    hover: /per request/,
    hint: /GiB\/request$/,
  },
  {
    file: 'Dockerfile',
    language: 'dockerfile',
    text: `# kv-planner: gpu=L4\nFROM vllm/vllm-openai:v0.28.0\nCMD ["--model", "${LLAMA}", "--max-model-len", "8192"]\n`,
    over: '--max-model-len',
    hover: /1\.00 GiB per request/,
    hint: /^1\.00 GiB\/request$/,
  },
  {
    file: 'serve.py',
    language: 'python',
    text: `# kv-planner: gpu=L4\nfrom vllm import LLM\nllm = LLM(model="${LLAMA}", max_model_len=8192)\n`,
    over: 'max_model_len',
    hover: /1\.00 GiB per request/,
    hint: /^1\.00 GiB\/request$/,
  },
  {
    file: 'Makefile',
    language: 'makefile',
    text: `# kv-planner: gpu=L4\nserve:\n\tvllm serve ${LLAMA} --max-model-len 8192\n`,
    over: '--max-model-len',
    hover: /1\.00 GiB per request/,
    hint: /^1\.00 GiB\/request$/,
  },
  {
    file: 'serve.ps1',
    language: 'powershell',
    text: `# kv-planner: gpu=L4\nvllm serve ${LLAMA} \`\n  --max-model-len 8192\n`,
    over: '--max-model-len',
    hover: /1\.00 GiB per request/,
    hint: /^1\.00 GiB\/request$/,
  },
  {
    file: 'serve.bat',
    language: 'bat',
    text: `REM kv-planner: gpu=L4\r\nvllm serve ${LLAMA} --max-model-len 8192\r\n`,
    over: '--max-model-len',
    hover: /1\.00 GiB per request/,
    hint: /^1\.00 GiB\/request$/,
  },
  {
    file: 'README.md',
    language: 'markdown',
    text: `# Serving\n\n\`\`\`sh\n# kv-planner: gpu=L4\nvllm serve ${LLAMA} --max-model-len 8192\n\`\`\`\n`,
    over: '--max-model-len',
    hover: /1\.00 GiB per request/,
    hint: /^1\.00 GiB\/request$/,
  },
  {
    file: 'llm.nomad.hcl',
    language: 'hcl|plaintext|nomad',
    text: `# kv-planner: gpu=L4\njob "llm" {\n  group "g" {\n    task "vllm" {\n      driver = "docker"\n      config {\n        image = "vllm/vllm-openai:v0.28.0"\n        args  = ["--model", "${LLAMA}", "--max-model-len", "8192"]\n      }\n    }\n  }\n}\n`,
    over: '--max-model-len',
    hover: /1\.00 GiB per request/,
    hint: /^1\.00 GiB\/request$/,
  },
];

suite('in files of many forms', () => {
  suiteSetup(activate);

  for (const { file, language, text, over, hover, hint } of CASES) {
    test(`${file}: a lens, a hover and a hint`, async () => {
      const document = await openText(`forms/${file}`, text);
      assert.match(document.languageId, new RegExp(`^(?:${language})$`));
      const lenses = await lensesOf(document);
      assert.lengthOf(lenses, 1);
      assert.match(
        lenses[0] ?? '',
        /^(?:starts · \S+ fit|may not start · \S+ fit|will not start) · .*token per GPU · .* paged$/,
      );
      assert.match(await hoverOver(document, over), hover);
      const hints = await hintsOf(document);
      assert.isTrue(hint === undefined || hints.some((words) => hint.test(words)), `hints: ${hints.join(' | ')}`);
    });
  }

  test('config.pbtxt is of our language', async () => {
    const document = await openSample('tensorrt-llm/config.pbtxt');
    assert.equal(document.languageId, 'pbtxt');
    assert.match((await lensesOf(document))[0] ?? '', /fit/);
  });

  test('nothing is said in files without a launch', async () => {
    for (const [name, text] of [
      ['other.yaml', 'name: CI\non: push\n'],
      ['other.sh', 'echo --max-model-len\n'],
      ['notes.md', 'A note on vllm serve in prose.\n'],
    ] as const) {
      const document = await openText(`forms/${name}`, text);
      assert.deepEqual(await lensesOf(document), [], name);
      assert.deepEqual(await hintsOf(document), [], name);
      assert.equal(await hoverOver(document, text.slice(0, 6)), '', name);
    }
  });
});
