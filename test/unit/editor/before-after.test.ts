/** What other values and fixes come to, planned anew: against plans of the text as it would then stand. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { fixTitle } from '../../../src/editor/before-after';
import { hoverTarget, hoverText } from '../../../src/editor/hover-text';
import { editDirective } from '../../../src/launch/directive-edit';
import { editFix, type TextEdit } from '../../../src/launch/edit';
import { type Plan, planText } from '../../../src/planner';
import { tryingOn } from '../../../src/planner/alternatives';
import { safeFixes } from '../../../src/planner/fix-effects';
import { gpuOffers } from '../../../src/planner/gpu-offers';
import { shortAmount } from '../../../src/report/amounts';
import { bash } from '../launch/support';

const NAME = 'a.compose.yaml';
const planOf = (text: string): Plan => planText({ text, name: NAME }, {}).plans[0] as Plan;
const compose = (command: string, comment = 'gpu=H100-80GB gpus=8'): string =>
  `services:\n  a:\n    # kv-planner: ${comment}\n    image: vllm/vllm-openai:v0.28.0\n    command: ${command}\n`;
const LLAMA = '--model meta-llama/Llama-3.1-8B-Instruct';

/** What a reader sees: without the escapes and the hard spaces. */
function hoverAt(text: string, words: string): string {
  const plan = planOf(text);
  const target = hoverTarget(plan, text.indexOf(words), text);
  const markdown = target ? hoverText(plan, target, tryingOn(text, {})) : '';
  return markdown.replaceAll(/(?:[\u00a0 ]|&nbsp;)+/g, ' ').replace(/\\([!-/:-@[-`{-~])/g, '$1');
}

const applied = (text: string, edits: readonly TextEdit[]): string =>
  [...edits]
    .sort((a, b) => b.range.start - a.range.start)
    .reduce((now, { range, text: put }) => now.slice(0, range.start) + put + now.slice(range.end), text);

describe('other values of an option', () => {
  const text = readFileSync(
    new URL('../../../samples/vllm/llama-3.1-70b-8xh100.compose.yaml', import.meta.url),
    'utf8',
  );
  const fits = (from: string, to: string) => {
    const { capacity } = planOf(text.replace(from, to));
    return capacity ? shortAmount(capacity.paged.requests) : '';
  };

  it('of the memory share are one step down and up, as the text with them is planned', () => {
    const hover = hoverAt(text, '--gpu-memory');
    expect(hover).toMatch(new RegExp(`\\| 0\\.91 \\|.*\\| ${fits('0.92', '0.91')} \\|`));
    expect(hover).toMatch(/\| 0\.92 \(now\) \|/);
    expect(hover).toMatch(new RegExp(`\\| 0\\.93 \\|.*\\| ${fits('0.92', '0.93')} \\|`));
  });

  it('of the tensor size are half, double and none', () => {
    const hover = hoverAt(text, '--tensor-parallel');
    expect(hover).toMatch(/\| 4 \| Starts \|.*80 KiB/);
    expect(hover).toMatch(/\| 16 \| May not start \|/);
    expect(hover).toMatch(/\| not set \| Will not start \| – \|/);
  });

  it.each([
    ['--kv-cache-dtype fp8', '--kv-cache', /\| auto \|.*128 KiB/],
    ['--kv-cache-dtype auto', '--kv-cache', /\| fp8 \|.*64 KiB/],
    ['--max-num-seqs 64', '--max-num-seqs', /\| 128 \| 128 \|/],
    ['--max-num-batched-tokens 65536', '--max-num-batched', /\| 131,072 \|/],
    ['--kv-offloading-size 4', '--kv-off', /\| not set \| – \|/],
    ['--no-enable-prefix-caching', '--no-enable', /same with it on/],
    ['--cpu-offload-gb 4', '--cpu-off', /\| not set \|.*GiB/],
    [
      `--speculative-config '{"method":"eagle","model":"yuhuili/EAGLE-LLaMA3.1-Instruct-8B","num_speculative_tokens":3}'`,
      '--speculative',
      /not set/,
    ],
  ])('%s', (option, words, expected) => expect(hoverAt(compose(`${LLAMA} ${option}`), words)).toMatch(expected));

  it('says since when, or until when, an engine has an option', () => {
    const old = compose(`${LLAMA} --swap-space 4`);
    expect(hoverAt(old, '--swap')).toMatch(/does not have the option swap-space\*\*: it is gone since vLLM 0\.18/);
    const young = compose(`${LLAMA} --kv-offloading-size 4`).replace('0.28.0', '0.10.0');
    expect(hoverAt(young, '--kv-off')).toMatch(
      /does not have the option kv-offloading-size\*\*: it came with vLLM 0\.11/,
    );
  });
});

describe('fixes', () => {
  const fixesOf = (text: string) => {
    const plan = planOf(text);
    const tryOptions = tryingOn(text, {});
    return plan.findings.flatMap((f) =>
      f.fixes.map((fix) => ({
        title: fixTitle(plan, fix, tryOptions),
        text: applied(text, editFix(plan.launch, text, fix)),
        code: f.code,
      })),
    );
  };

  it.each([
    ['bad-value', `${LLAMA} --max-model-len 32kb`, /32 × 1,024/, '--max-model-len 32768'],
    ['bad-value', `${LLAMA} --gpu-memory-utilization 90%`, /90 %/, '--gpu-memory-utilization 0.9'],
    ['bad-value', `${LLAMA} --kv-cache-dtype fp9`, /nearest/, '--kv-cache-dtype fp8'],
    ['unknown-option', `${LLAMA} --max-modell-len 4096`, /for max-modell-len/, '--max-model-len 4096'],
    [
      'unknown-option',
      `${LLAMA} --max_modell_len=4096`,
      /for max-modell-len|for max_modell_len/,
      '--max_model_len=4096',
    ],
    ['model-unknown', '--model meta-llama/Llama-3.1-8B-Instuct', /is known/, LLAMA],
  ])('%s of %s', (code, command, title, expected) => {
    const found = fixesOf(compose(command)).filter((f) => f.code === code);
    expect(found.map((f) => f.title).join('\n')).toMatch(title);
    expect(found.map((f) => f.text).join('\n')).toContain(expected);
  });

  it('of a directive stand in the directive', () => {
    const [gpu] = fixesOf(compose(LLAMA, 'gpu=RTX-4091'));
    expect(gpu?.title).toMatch(/GPU is RTX 40.* → /);
    expect(gpu?.text).toMatch(/# kv-planner: gpu="?RTX 40/);
    const [memory] = fixesOf(compose(LLAMA, 'gpu=L4 kv-memory=5'));
    expect(memory?.text).toContain('kv-memory=5GiB');
  });

  it('say what they come to, as the edited text is planned', () => {
    const [length] = fixesOf(compose(`${LLAMA} --max-model-len 131072`, 'gpu=L4'));
    expect(length?.title).toMatch(/ → starts, ~?\d+ fit at once$/);
    const { capacity, starts } = planOf(length?.text ?? '');
    expect(starts).toBe(true);
    expect(length?.title).toContain(capacity ? `${shortAmount(capacity.fits)} fit` : 'nothing');
  });

  it('are safe where the launch starts for sure, or a value can mean one thing', () => {
    const safe = (command: string, comment?: string) => {
      const text = compose(command, comment);
      return safeFixes(planOf(text), tryingOn(text, {})).map((f) => `${f.option} ${f.value}`);
    };
    expect(safe(`${LLAMA} --max-model-len 131072`, 'gpu=L4')[0]).toMatch(/^max-model-len \d+$/);
    expect(safe(`${LLAMA} --max-model-len 32,768`)).toEqual(['max-model-len 32768']);
    expect(safe(`${LLAMA} --max-model-len 32kb`)).toEqual([]);
    expect(safe(LLAMA)).toEqual([]);
  });
});

describe('a GPU for a launch that names none', () => {
  const llama = 'meta-llama/Llama-3.1-8B-Instruct';
  it.each([
    ['compose', NAME, compose(LLAMA).replace(/ *# kv.*\n/, ''), 'L40S'],
    ['with a comment', NAME, compose(LLAMA, 'prompt=100'), 'L40S'],
    ['shell', 'serve.sh', `set -e\nvllm serve ${llama} --max-model-len 8192\n`, 'L4'],
    ['vllm-config', 'a.vllm.yaml', `model: ${llama}\r\nmax-model-len: 8192\r\n`, 'L4'],
  ])('%s', async (_, name, text, expected) => {
    const input = { name, grammars: await bash() };
    const plan = planText({ ...input, text }, {}).plans[0] as Plan;
    const [smallest, usual] = gpuOffers(plan, tryingOn(text, {}));
    expect([smallest?.name, usual?.name]).toEqual([expected, 'H100-80GB-SXM']);
    const edits = editDirective({ launch: plan.launch, launches: [plan.launch] }, text, 'gpu', 'H100-80GB-SXM');
    const edited = planText({ ...input, text: applied(text, edits) }, {}).plans[0];
    expect(edited?.hardware?.name).toBe('H100 80GB SXM');
    expect(edited?.capacity?.fits.value).toBe(usual?.plan.capacity?.fits.value);
  });
});
