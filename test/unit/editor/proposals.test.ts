/** Completion, signature help and inlay hints on real texts; `|` is the cursor. */
import { describe, expect, it } from 'vitest';
import { hintsOf } from '../../../src/editor/inlay-text';
import { type Proposal, proposalsAt } from '../../../src/editor/proposals';
import { signatureOf } from '../../../src/editor/signature';
import { planText } from '../../../src/planner';
import { shortAmount } from '../../../src/report/amounts';
import { bash, loadedGrammars, readFully } from '../launch/support';

async function proposed(
  name: string,
  marked: string,
): Promise<{ readonly typed: string; readonly items: readonly Proposal[] }> {
  const offset = marked.indexOf('|');
  const text = marked.slice(0, offset) + marked.slice(offset + 1);
  await readFully(text, name); // which grammars it takes
  const { plans } = planText({ text, name, grammars: loadedGrammars() ?? (await bash()) }, {});
  const found = proposalsAt(text, offset, plans);
  return { typed: found ? text.slice(found.range.start, found.range.end) : '', items: found?.items ?? [] };
}

const written = (items: readonly Proposal[]) => items.map((i) => i.insert ?? i.label);
const compose = (rest: string) =>
  `services:\n  a:\n    # kv-planner: gpu=L4\n    image: vllm/vllm-openai:v0.28.0\n${rest}`;
const LLAMA = 'meta-llama/Llama-3.1-8B-Instruct';

describe('completion', () => {
  it.each<[string, string, string, string, string[], string[]]>([
    [
      'flags of a shell command',
      'a.sh',
      `vllm serve ${LLAMA} --max-m|\n`,
      '--max-m',
      ['--max-model-len'],
      ['--swap-space'],
    ],
    [
      'flags behind a continuation',
      'a.sh',
      `vllm serve ${LLAMA} \\\n  --block-size 16 \\\n  --|`,
      '--',
      ['--max-num-seqs'],
      ['--block-size'],
    ],
    ['flags with underscores', 'a.sh', `vllm serve ${LLAMA} --max_m|\n`, '--max_m', ['--max_model_len'], []],
    [
      'values behind a flag',
      'a.sh',
      `vllm serve ${LLAMA} --kv-cache-dtype f|\n`,
      'f',
      ['fp8', 'auto'],
      ['--max-model-len'],
    ],
    ['values behind =', 'a.sh', `vllm serve ${LLAMA} --kv-cache-dtype=|\n`, '', ['fp8_e5m2'], []],
    ['the model of vllm serve', 'a.sh', 'vllm serve meta|\n', 'meta', [LLAMA], []],
    [
      'flags in a list of words',
      'a.compose.yaml',
      compose(`    command:\n      - --model\n      - ${LLAMA}\n      - --max-n|\n`),
      '--max-n',
      ['--max-num-seqs'],
      ['--model'],
    ],
    [
      'values in a list of words',
      'a.compose.yaml',
      compose(`    command:\n      - --model=${LLAMA}\n      - --kv-cache-dtype\n      - f|\n`),
      'f',
      ['fp8'],
      [],
    ],
    [
      'values in a flow list',
      'a.compose.yaml',
      compose(`    command: ["--model", "${LLAMA}", "--kv-cache-dtype", "f|"]\n`),
      'f',
      ['fp8'],
      [],
    ],
    [
      'the length that fits',
      'a.compose.yaml',
      compose(`    command: --model ${LLAMA} --max-model-len |131072\n`),
      '',
      ['27648'],
      [],
    ],
    ['models', 'a.compose.yaml', compose('    command: --model meta-llama/|\n'), 'meta-llama/', [LLAMA], []],
    [
      'keys of a config file',
      'a.vllm.yaml',
      `model: ${LLAMA}\nmax-num-seqs: 4\nmax-mod|\n`,
      'max-mod',
      ['max-model-len: '],
      ['--max-model-len'],
    ],
    [
      'values of a config file',
      'a.vllm.yaml',
      `model: ${LLAMA}\nmax-model-len: 4096\nkv-cache-dtype: |\n`,
      '',
      ['fp8'],
      [],
    ],
    [
      'variables of Ollama',
      'a.compose.yaml',
      'services:\n  o:\n    image: ollama/ollama:0.12.0\n    environment:\n      OLLAMA_KV_CACHE_TYPE: f16\n      OLLAMA_|: x\n',
      'OLLAMA_',
      ['OLLAMA_NUM_PARALLEL'],
      [],
    ],
    [
      'values of a variable',
      'a.compose.yaml',
      'services:\n  o:\n    image: ollama/ollama:0.12.0\n    environment:\n      OLLAMA_KV_CACHE_TYPE: q|\n',
      'q',
      ['q8_0', 'q4_0'],
      [],
    ],
    [
      'arguments in Python',
      'a.py',
      `from vllm import LLM\nllm = LLM(model="${LLAMA}", max_model_len=4096, kv_|)\n`,
      'kv_',
      ['kv_cache_dtype='],
      ['max_model_len='],
    ],
    [
      'values in Python',
      'a.py',
      `from vllm import LLM\nllm = LLM(model="${LLAMA}", kv_cache_dtype="f|")\n`,
      'f',
      ['fp8'],
      [],
    ],
    [
      'words of a Dockerfile',
      'Dockerfile',
      `FROM vllm/vllm-openai:v0.28.0\nCMD ["--model", "${LLAMA}", "--max-m|"]\n`,
      '--max-m',
      ['--max-model-len'],
      [],
    ],
    [
      'parameters of a Modelfile',
      'Modelfile',
      'FROM llama3.1:8b\nPARAMETER num_ctx 4096\nPARAMETER num_|\n',
      'num_',
      ['num_gpu '],
      ['num_ctx ', 'OLLAMA_NUM_PARALLEL'],
    ],
    [
      'keys of a preset',
      'a.preset.ini',
      '[llama]\nmodel = /m/llama-3.1-8b-q4_k_m.gguf\nctx-size = 8192\ncache-t|\n',
      'cache-t',
      ['cache-type-k = '],
      ['ctx-size = '],
    ],
    ['keys of a directive', 'a.sh', '# kv-planner: gpu=L4 g|\nvllm serve x\n', 'g', ['gpus=', 'gpu-memory='], ['gpu=']],
    ['GPUs of a directive', 'a.sh', '# kv-planner: gpu=H1|\nvllm serve x\n', 'H1', ['H100-80GB-SXM', 'L4'], []],
    ['models of a directive', 'a.sh', '# kv-planner: model=|\nvllm serve x\n', '', [LLAMA], []],
    ['engines of a directive', 'a.sh', '# kv-planner: engine=v|\nvllm serve x\n', 'v', ['vllm', 'sglang'], []],
  ])('%s', async (_, name, text, typed, some, none) => {
    const found = await proposed(name, text);
    expect(found.typed).toBe(typed);
    expect(written(found.items)).toEqual(expect.arrayContaining(some));
    for (const absent of none) {
      expect(written(found.items)).not.toContain(absent);
    }
  });

  it.each([
    ['a file without a launch', 'a.sh', 'ls --|\n'],
    ['a comment', 'a.sh', `# about --max|\n\n\nls\n`],
    ['a word behind a flag without a value', 'a.sh', `vllm serve ${LLAMA} --enforce-eager x|\n`],
    ['far behind the launch', 'a.sh', `vllm serve ${LLAMA}\n\nls --|\n`],
  ])('nothing in %s', async (_, name, text) => expect((await proposed(name, text)).items).toEqual([]));

  it('tells what an option does, from its row', async () => {
    const { items } = await proposed('a.sh', `vllm serve ${LLAMA} --enable-pre|\n`);
    const about = items.find((i) => i.label === '--enable-prefix-caching')?.about?.() ?? '';
    expect(about).toMatch(/KV cache:\*\* .*share its blocks/);
    expect(about).toMatch(/vLLM 0\.28/);
  });

  it('offers no option of another version', async () => {
    const { items } = await proposed(
      'a.compose.yaml',
      compose(`    command: --model ${LLAMA} --s|\n`).replace('0.28.0', '0.10.0'),
    );
    expect(written(items)).toContain('--swap-space');
    expect(written(items)).not.toContain('--kv-offloading-size');
  });
});

describe('the signature of a directive', () => {
  const active = (line: string, column = line.length) => {
    const signature = signatureOf(line, column);
    const parameter = signature?.parameters[signature.active];
    return parameter && signature?.label.slice(parameter.start, parameter.end);
  };
  it.each([
    ['# kv-planner: ', 'gpu=NAME'],
    ['# kv-planner: gpu=H100-80GB ', 'gpus=N'],
    ['# kv-planner: gpu=H100-80GB pro', 'prompt=TOKENS'],
    ['  // kv-planner: kv-memory=58', 'kv-memory=BYTES'],
    ['# kv-planner: gpu="RTX 40', 'gpu=NAME'],
  ])('%s', (line, expected) => expect(active(line)).toBe(expected));

  it('stands only in a comment that is one', () => expect(active('kv-planner: gpu')).toBeUndefined());
});

describe('inlay hints', () => {
  it('stand behind the value and its quote, one an option', () => {
    const text = compose(
      `    command: ["--model", "${LLAMA}", "--max-model-len", "4096", "--max-model-len=8192", "--gpu-memory-utilization", "0.9", "--enforce-eager"]\n`,
    );
    const plan = planText({ text, name: 'a.compose.yaml' }, {}).plans[0];
    const hints = plan ? hintsOf(plan, text) : [];
    const { budget } = plan ?? {};
    expect(hints.map((h) => `${text.slice(h.offset - 6, h.offset)} ${h.text}`)).toEqual([
      `truct" ${budget && shortAmount(budget.weights.figure)} of weights per GPU`,
      '=8192" 1.00 GiB/request',
      ` "0.9" ${budget && shortAmount(budget.kv.figure)} for KV`,
    ]);
  });
});
