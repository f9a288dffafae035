import { expect, test } from 'vitest';
import { changesOf } from '../../../src/compare/changes';
import { planText } from '../../../src/planner';
import { changesReport } from '../../../src/report/changes-report';
import { reportMarkdown } from '../../../src/report/markdown';

const compose = (services: Readonly<Record<string, string>>): string =>
  `# kv-planner: gpu=H100-80GB\nservices:\n${Object.entries(services)
    .map(([name, command]) => `  ${name}:\n    image: vllm/vllm-openai:v0.28.0\n    command: ${command}\n`)
    .join('')}`;
const LLAMA = '--model meta-llama/Llama-3.1-8B-Instruct --max-model-len';

const planned = (services: Readonly<Record<string, string>>, name = 'compose.yaml') => {
  const text = compose(services);
  return { name, text, result: planText({ text, name }, {}) };
};
const plansOf = (services: Readonly<Record<string, string>>) => planned(services).result.plans;

test('a shorter context: contiguous grows, a token stays, the option is told', () => {
  const [change, ...more] = changesOf(plansOf({ a: `${LLAMA} 8192` }), plansOf({ a: `${LLAMA} 4096` }));
  expect(more).toEqual([]);
  const of = (label: string) => change?.figures.find((f) => f.label === label);
  expect(of('One token, per GPU')).toMatchObject({ ratio: 0, difference: 0 });
  expect(of('Contiguous, memory alone')?.ratio).toBeGreaterThan(0.9);
  expect(of('One request of max length, per GPU')).toMatchObject({ ratio: -0.5, difference: -4096 * 131072 });
  expect(change?.options).toEqual([{ name: 'max-model-len', before: '8192', after: '4096' }]);
});

test('launches are paired by name whatever their order; what is left stands alone', () => {
  const [one, two] = [`${LLAMA} 1024`, `${LLAMA} 2048`];
  const titles = changesOf(plansOf({ a: one, b: two }), plansOf({ b: two, c: one })).map(({ before, after }) => [
    before?.launch.title,
    after?.launch.title,
  ]);
  expect(titles).toEqual([
    ['b', 'b'],
    ['a', 'c'],
  ]);
  expect(changesOf([], plansOf({ a: one })).map(({ before, after }) => [before, after?.launch.title])).toEqual([
    [undefined, 'a'],
  ]);
});

test('findings that come and go are told, the same ones are not', () => {
  const [change] = changesOf(plansOf({ a: `${LLAMA} 8192` }), plansOf({ a: `${LLAMA} 999999` }));
  expect(change?.come.map((f) => f.code)).toContain('length-above-model');
  const [same] = changesOf(plansOf({ a: `${LLAMA} 8192` }), plansOf({ a: `${LLAMA} 8192` }));
  expect([same?.come, same?.gone, same?.options]).toEqual([[], [], []]);
});

test('the report says both sides, and how much', () => {
  const text = reportMarkdown(
    changesReport(planned({ a: `${LLAMA} 8192` }, 'old.yaml'), planned({ a: `${LLAMA} 4096` }, 'new.yaml')),
  );
  expect(text).toContain('# What changed in capacity\n\n## a\n\n**Before**: starts;');
  expect(text).toContain('| One request of max length, per GPU | 1.00 GiB | 512.0 MiB | −50 % (−512.0 MiB) |');
  expect(text).toContain('| max-model-len | 8192 | 4096 |');
});
