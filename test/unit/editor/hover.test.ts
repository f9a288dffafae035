import { describe, expect, it } from 'vitest';
import { hoverTarget, hoverText } from '../../../src/editor/hover-text';
import { lensLine, statusLine } from '../../../src/editor/lines';
import { code, commandLink, escaped, plain } from '../../../src/editor/markdown';
import { type Plan, planText } from '../../../src/planner';
import { bash } from '../launch/support';
import { aFinding, aLaunch, anOption, aPlan, rangeOf, TEXT } from './aPlan';

function hoverAt(words: string, plan: Plan = aPlan()): string {
  const target = hoverTarget(plan, TEXT.indexOf(words), TEXT);
  return target ? hoverText(plan, target) : '';
}

/** What a reader sees: without the escapes. */
const seen = (markdown: string): string =>
  markdown
    .replaceAll(/(?:\u00a0|&nbsp;)+/g, ' ')
    .replaceAll('  |', ' |')
    .replace(/\\([!-/:-@[-`{-~])/g, '$1');

describe('hover', () => {
  it.each([
    ['L4', false],
    ['H200', true],
  ])('slots that are set aside say nothing of memory where it does not start: %s', async (gpu, fits) => {
    const text = `# kv-planner: gpu=${gpu}\nllama-server -hf Qwen/Qwen3-32B-GGUF:Q8_0 -c 131072 -np 4 -ngl 99\n`;
    const [plan] = planText({ text, name: 'a.sh', grammars: await bash() }, {}).plans as [Plan];
    const target = hoverTarget(plan, text.indexOf('131072'), text);
    const said = seen((target && hoverText(plan, target)) ?? '');
    expect([plan.starts, said.includes('requests fit')]).toEqual([fits, fits]);
    expect(said).toContain('8.00 GiB per request');
  });

  it.each<[string, string[]]>([
    [
      '--max-model-len',
      ['0.313 GiB per request', 'at 8,192 tokens', '**162** requests fit', '**1,536** paged', '1,327,488'],
    ],
    ['8192', ['0.313 GiB per request']],
    [
      '--gpu-memory-utilization',
      [
        '50.64 GiB',
        '71.27 GiB of 79.19 GiB',
        'One GiB more on every GPU holds 30.33 more requests',
        '| weights | 16.43 GiB | exact |',
        '1.60 to 2.80 GiB',
      ],
    ],
    ['--tensor-parallel-size', ['40 KiB per token on each GPU', '8 GPUs', '320 KiB over the whole model']],
    ['meta-llama', ['40 KiB per token and GPU', '80 full', 'catalogue: config.json']],
    [
      'vllm serve',
      ['Starts · 1,024 requests fit', '82,969 blocks of 16 tokens', '8 × H100-80GB, vLLM 0.28', 'most sequences'],
    ],
  ])('on %s answers first, then shows the formula and its origins', (words, expected) => {
    const text = seen(hoverAt(words));
    for (const part of expected) {
      expect(text).toContain(part);
    }
    expect(text.split('\n')[0]).toContain(expected[0]);
    expect(text).toContain('a × b');
    expect(text).toContain('line 4');
  });

  it('says nothing elsewhere', () => {
    expect(hoverTarget(aPlan(), TEXT.length, TEXT)).toBeUndefined();
  });

  it('shows what the engine will not take, what is not known, and the findings of the option', () => {
    const launch = aLaunch({
      options: [anOption('max-model-len', '8192', { error: 'invalid human_readable_int value' })],
    });
    expect(seen(hoverAt('8192', aPlan({ launch })))).toContain(
      'vLLM will not take `8192`**: invalid human_readable_int',
    );
    const unresolved = aLaunch({
      options: [anOption('max-model-len', '8192', { unresolved: '$LEN is not set here' })],
    });
    expect(seen(hoverAt('8192', aPlan({ launch: unresolved })))).toContain('$LEN is not set here');
    expect(seen(hoverAt('8192', aPlan({ findings: [aFinding()] })))).toContain('$(error) The pool is too small');
  });

  it('keeps hostile names as text', () => {
    const hostile = '[x](command:workbench.action.quit)<img src=x>`a`|$(zap)\u202Egnp\nhttps://evil.example';
    const launch = aLaunch({ model: { text: hostile, range: rangeOf('meta-llama/Llama-3.1-70B-Instruct') } });
    const text = hoverAt('meta-llama', aPlan({ launch, model: undefined }));
    expect(text).not.toMatch(/(?<!\\)[[\]<>`$|]/);
    expect(text).not.toContain('\u202E');
    expect(text).not.toContain('https:/');
    expect(text).toContain('u{202e}');
  });
});

describe('lines', () => {
  it.each<[Partial<Plan>, string, string]>([
    [
      {},
      'starts · 1,024 fit · 40 KiB/token per GPU · 82,969 blocks · room for 162 contiguous → 1,536 paged',
      '1,024 fit',
    ],
    [
      { starts: 'unknown' },
      'may not start · 1,024 fit · 40 KiB/token per GPU · 82,969 blocks · room for 162 contiguous → 1,536 paged',
      '1,024 fit, if it starts',
    ],
    [
      { starts: false },
      'will not start · 40 KiB/token per GPU · 82,969 blocks · room for 162 contiguous → 1,536 paged',
      'will not start',
    ],
    [
      { planned: false, findings: [aFinding({ message: 'The model is not known.' })] },
      'not planned: The model is not known.',
      'not planned',
    ],
  ])('%#', (over, lens, status) => {
    expect(lensLine(aPlan(over))).toBe(lens);
    expect(statusLine(aPlan(over))).toBe(status);
  });

  it('asks for the GPU when it is the one thing missing', () => {
    const { kv } = aPlan();
    const plan = aPlan({
      kv: kv && { layout: kv.layout },
      hardware: undefined,
      capacity: undefined,
      budget: undefined,
      starts: 'unknown',
    });
    expect(lensLine(plan)).toBe('GPU not known · 40 KiB/token per GPU');
    expect(statusLine(plan)).toBe('40 KiB/token');
  });
});

describe('markdown', () => {
  it.each([
    ['a*b_c', 'a\\*b\\_c'],
    ['1,536 requests (16.43 GiB): https://x www.x', '1,536 requests (16.43 GiB): https\\://x www\\.x'],
    ['# a', '\\# a'],
    ['2. a', '2\\. a'],
    ['a\r\nb', 'a b'],
    ['$(zap)', '\\$(zap)'],
    ['\u2066x\u2069\u200B', '\\\\u{2066}x\\\\u{2069}\\\\u{200b}'],
  ])('escapes %j', (text, expected) => expect(escaped(text)).toBe(expected));

  it('fences code with more backticks than it holds', () => {
    expect(code('a``b')).toBe('``` a``b ```');
    expect(code('plain')).toBe('`plain`');
  });

  it('keeps links and icons out of messages, where the editor would make them', () => {
    const said = plain('[Apply](command:workbench.action.quit "x") $(zap) \u202Egnp\n2');
    // The pattern of VS Code: base/common/linkedText.ts.
    expect(said).not.toMatch(/\[([^\]]+)\]\(((?:https?:\/\/|command:|file:)[^)\s]+)/i);
    expect(said).not.toMatch(/\$\(\w|\u202e|\n/i);
    expect(plain('x'.repeat(100_000)).length).toBeLessThan(500);
  });

  it('encodes command arguments so that nothing ends the link', () => {
    expect(commandLink('Go', 'kvPlanner.x', ['a) [b](c)'])).toBe(
      '[Go](command:kvPlanner.x?%5B%22a%29%20%5Bb%5D%28c%29%22%5D)',
    );
  });
});
