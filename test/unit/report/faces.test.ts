import { expect, test } from 'vitest';
import { type Overrides, type Plan, planText } from '../../../src/planner';
import { reportCsv } from '../../../src/report/csv';
import { clean } from '../../../src/report/document';
import { reportHtml } from '../../../src/report/html';
import { escaped, reportMarkdown } from '../../../src/report/markdown';
import { reportOf } from '../../../src/report/sections';
import { reportText } from '../../../src/report/text';
import { aFile, aLayout, aModel, aPlan, TEXT, withoutGpu } from './aPlan';

const style = { colour: false, width: 100 };
const textOf = (...plans: Plan[]): string => reportText(reportOf([aFile(...plans)]), style);
const lines = (text: string): string[] => text.split('\n');

const error = {
  code: 'max-length-too-long',
  severity: 'error',
  message: 'To serve at least one request, 16.0 GiB KV cache is needed.',
  option: 'max-model-len',
  fixes: [{ title: 'Set the longest that fits', option: 'max-model-len', value: '40960' }],
  range: { start: TEXT.indexOf('vllm/'), end: TEXT.indexOf('\n    command') },
  line: 3,
} as const;

test('the first line says whether it starts, the second how many fit', () => {
  expect(lines(textOf(aPlan())).slice(0, 2)).toEqual([
    'Starts  yes: the pool holds 162.05 requests of the full 8,192 tokens',
    "Fits    1,024 requests at once of 600 + 250 tokens, which is the engine's limit; memory alone holds",
  ]);
  const refused = lines(textOf(aPlan({ starts: false, findings: [error] })));
  expect(refused[0]).toBe('Starts  no. To serve at least one request, 16.0 GiB KV cache is needed.');
  expect(refused[1]).toMatch(/^Fits {4}nothing while it does not start; memory is left for 1,024 requests at once/);
  expect(refused.slice(2, 5)).toContain('Fix     Set the longest that fits');
  const { kv } = aPlan();
  const slots = kv && { ...kv, layout: { ...kv.layout, allocator: 'slots' as const } };
  const unread = lines(textOf(aPlan({ starts: false, findings: [error], kv: slots })));
  expect(unread[1]).toBe('Fits    nothing while it does not start');
  const unknown = lines(textOf(withoutGpu()));
  expect(unknown[0]).toMatch(/^Starts {2}not known\. The GPU is not known/);
  expect(lines(textOf(aPlan({ planned: false, findings: [error] })))[0]).toMatch(/^Planned {2}no\. To serve/);
});

test('requests longer than the engine takes are not said to fit', () => {
  const plan = (flags: Overrides) => {
    const text =
      'services:\n  a:\n    image: vllm/vllm-openai:v0.28.0\n    command: --model Qwen/Qwen3-8B --max-model-len 700\n';
    const result = planText({ text, name: 'compose.yaml' }, { flags: { gpu: 'L4', 'kv-memory': '4GiB', ...flags } });
    return lines(textOf(result.plans[0] as Plan))[1];
  };
  expect(plan({ prompt: '600', output: '250' })).toMatch(/^Fits {4}none of 600 \+ 250 tokens: more than the 700/);
  expect(plan({})).toMatch(/^Fits {4}\d+ requests at once of 700 tokens/); // nobody asked for 600 + 250
  expect(plan({ prompt: '300', output: '250' })).toMatch(/^Fits {4}\d+ requests at once of 300 \+ 250 tokens/);
});

test.each([
  [
    'deploy.yaml',
    `apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  replicas: 3
  template:
    spec:
      containers:
        - name: a
          image: vllm/vllm-openai:v0.28.0
          args: [--model, Qwen/Qwen3-8B, --max-model-len, "4096", --max-num-seqs, "10"]
`,
  ],
  [
    'compose.yaml',
    `services:
  a:
    image: vllm/vllm-openai:v0.28.0
    command: --model Qwen/Qwen3-8B --max-model-len 4096 --max-num-seqs 10
    deploy: {replicas: 3}
`,
  ],
])('copies that %s starts are told once; every other number is of one', (name, text) => {
  const [plan] = planText({ text, name }, { flags: { gpu: 'H100-80GB', 'kv-memory': '20GiB' } }).plans;
  expect(plan?.capacity?.fits.value).toBe(10);
  expect(plan?.placement?.replicas).toBe(1);
  const said = textOf(plan as Plan).replace(/\s+/g, ' ');
  expect(said.match(/copies/g)).toHaveLength(1);
  expect(said).toContain('; the 3 copies that the file starts serve 30 together');
});

test('replicas are counted in, and named', () => {
  const placement = { tensor: 2, pipeline: 1, data: 4, context: 1, expert: 1, attentionData: 1, replicas: 4 };
  const text = textOf(aPlan({ placement }));
  expect(text).toContain('on each of 4 replicas (4,096 in all)');
  expect(text).toContain('8 × H100-80GB');
});

test('the derivation shows formulas with numbers, ranges, both ways of reserving, and every waste', () => {
  const text = textOf(aPlan({ findings: [error] }));
  for (const part of [
    '2 × 80 × 1 × 128 × 2 = 40,960',
    '2 × 80 × 8 × 128 × 2 = 327,680',
    'floor(54,375,000,000 ÷ 655,360) = 82,969',
    'about 52.31 GiB  51.90 to 52.56 GiB',
    'GPU KV cache size: 1,327,504 tokens',
    'compose.yaml:3:12  max-length-too-long',
    'fix: Set the longest that fits (max-model-len: 40960)',
  ]) {
    expect(text).toContain(part);
  }
  expect(text).toMatch(/Requests that fit, memory alone +162 +1,536/);
  expect(text).toMatch(/wasted on tokens that never come +45\.37 GiB +0 B/);
  expect(text).toMatch(/wasted at the end of last blocks +0 B +840\.0 MiB/);
});

test('colours only when asked for', () => {
  const plan = aPlan();
  expect(textOf(plan)).not.toContain('\u001b');
  expect(reportText(reportOf([aFile(plan)]), { ...style, colour: true })).toContain('\u001b[32m');
});

test('stages and groups get their tables when there is more than one', () => {
  const [group, rank] = [aLayout.groups[0], aLayout.ranks[0]];
  if (!group || !rank) {
    throw new Error('the hand-made plan has one of each');
  }
  const layout = {
    ...aLayout,
    groups: [
      group,
      { ...group, kind: 'sliding' as const, layers: 27 },
      { ...group, kind: 'sliding' as const, layers: 27 },
    ],
    ranks: [
      { ...rank, layers: 27 },
      { ...rank, stage: 1, layers: 26 },
    ],
  };
  const text = textOf(aPlan({ kv: { layout } }));
  expect(text).toMatch(/2 +sliding +27/);
  expect(text).toMatch(/1 of 2 \(decides\) +27/);
});

const hostile = '<script>alert(1)</script>[x](https://evil.example)|`@team`\u202e\u001b[31m\n# head';
/** Any control or invisible character but the line end. */
const HIDDEN = /(?!\n)[\p{Cc}\p{Cf}]/u;

const hostilePlan = (): Plan => {
  const { launch } = aPlan();
  const findings = [{ ...error, message: hostile }];
  return aPlan({ model: { ...aModel, id: hostile }, launch: { ...launch, title: hostile }, findings });
};

test('text from a file can act in no face', () => {
  const report = reportOf([aFile(hostilePlan())]);
  expect(reportText(report, style)).not.toMatch(HIDDEN);
  const html = reportHtml(report);
  expect(html).not.toContain('<script');
  expect(html).not.toMatch(HIDDEN);
  const markdown = reportMarkdown(report);
  expect(markdown).not.toMatch(/<script|[^\\]\[x|https:\/\/|@team|\n# head/);
  expect(markdown).not.toMatch(HIDDEN);
  for (const row of markdown.split('\n').filter((line) => line.startsWith('| model'))) {
    expect(row.match(/(?<!\\)\|/g)).toHaveLength(4);
  }
});

test.each([
  ['a_b*c', 'a\\_b\\*c'],
  ['- item', '\\- item'],
  ['1. item', '1\\. item'],
  ['−1.5 GiB', '−1.5 GiB'],
  ['79.19 GiB', '79.19 GiB'],
  ['www.x.example', 'www&#46;x.example'],
  ['&lt;', '&amp;lt;'],
])('Markdown of %j', (text, wanted) => expect(escaped(text)).toBe(wanted));

test('what cannot be seen is shown', () => {
  expect(clean('a\u202eb\u200bc\u0007d\te')).toBe('a\\u{202e}b\\u{200b}c\\u{7}d e');
});

test('CSV: one row per launch under the names of the JSON, unknown is empty, no formula runs', () => {
  const evil = aPlan({ model: { ...aModel, id: '=HYPERLINK("http://x","y")' } });
  const [head, first, second, third, end] = reportCsv([aFile(aPlan(), withoutGpu(), evil)]).split('\r\n');
  const column = (row: string | undefined, name: string) => row?.split(',')[head?.split(',').indexOf(name) ?? -1];
  expect(column(first, 'capacity.fits')).toBe('1024');
  expect(column(first, 'kv.bytesPerTokenPerGpu')).toBe('40960');
  expect(column(second, 'capacity.fits')).toBe('');
  expect(column(second, 'starts')).toBe('unknown');
  expect(third).toContain(`"'=HYPERLINK(""http://x"",""y"")"`);
  expect(end).toBe('');
});

test('HTML is one page that fetches and runs nothing', () => {
  const html = reportHtml(reportOf([aFile(aPlan())]));
  expect(html).toContain(`default-src 'none'`);
  expect(html).toContain('prefers-color-scheme: dark');
  expect(html).not.toMatch(/<script|<link|<img|url\(|@import/);
});

test('charts go into the HTML as pictures, and nothing else gets in with them', () => {
  const pictures = [
    { title: 'Memory <1>', text: 'One GPU of "79 GiB".', png: 'iVBORw0KGgo=' },
    { title: 'Bad', text: '', png: '"><script>alert(1)</script>', dark: '"><script>alert(2)</script>' },
  ];
  const html = reportHtml(reportOf([aFile(aPlan())]), { notes: ['Tried with <b>x</b>.'], pictures });
  expect(html).toMatch(/default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'/);
  expect(html).toContain(
    '<img alt="Memory &lt;1&gt;. One GPU of &quot;79 GiB&quot;." src="data:image/png;base64,iVBORw0KGgo=">',
  );
  expect(html).toContain(
    '<source media="(prefers-color-scheme: dark)" srcset="data:image/png;base64,scriptalert2/script">',
  );
  expect(html).toContain('Tried with &lt;b&gt;x&lt;/b&gt;.');
  expect(html).not.toMatch(/<script|<b>|https?:/);
  const places = ['class="answer"', '<figure>', '<h3>'].map((what) => html.indexOf(what));
  expect(places, 'the answer comes first, the pictures next').toEqual(places.toSorted((a, b) => a - b));
});
