import { expect, test } from 'vitest';
import { planJson } from '../../../src/report/json';
import { aFile, aLayout, aModel, aPlan, FILE, TEXT, withoutGpu } from './aPlan';
import { schemaErrors } from './schema';

// biome-ignore lint/suspicious/noExplicitAny: the test reads arbitrary keys of parsed JSON.
const jsonOf = (...files: Parameters<typeof planJson>[0]): any => planJson(files);

const problem = {
  name: FILE,
  text: TEXT,
  result: { plans: [], problems: [{ file: FILE, message: 'broken', line: 2 }] },
};
const refused = aPlan({
  starts: false,
  findings: [
    {
      code: 'max-length-too-long',
      severity: 'error',
      message: 'does not fit',
      option: 'max-model-len',
      fixes: [{ title: 'Set 4,096', option: 'max-model-len', value: '4096' }],
      range: { start: 0, end: 1 },
      line: 1,
    },
  ],
});
const bare = aPlan({ model: undefined, hardware: undefined, placement: undefined, kv: undefined, planned: false });

test.each([
  ['a full plan', jsonOf(aFile(aPlan()))],
  ['no GPU', jsonOf(aFile(withoutGpu()))],
  ['a draft model', jsonOf(aFile(aPlan({ draft: aPlan().model })))],
  ['a refusal and a problem', jsonOf(aFile(refused), problem)],
  ['not planned', jsonOf(aFile(bare))],
])('%s follows schema/plan.schema.json', (_, json) => {
  expect(schemaErrors(json)).toEqual([]);
});

test('the schema refuses what the contract forbids', () => {
  const [good] = jsonOf(aFile(aPlan())).plans;
  for (const bad of [
    { ...good, starts: 'yes' },
    { ...good, extra: 1 },
    { ...good, capacity: { fits: 1.5 } },
  ]) {
    expect(schemaErrors({ schema: 'kv-planner/plan@1', plans: [bad], problems: [] })).not.toEqual([]);
  }
});

test('every figure of the seed example stands under its name', () => {
  const [plan] = jsonOf(aFile(aPlan())).plans;
  expect(plan.kv).toMatchObject({
    bytesPerTokenPerGpu: 40960,
    bytesPerTokenTotal: 327680,
    bytesPerBlockPerGpu: 655360,
    blocks: 82969,
    groups: [{ kind: 'full', layers: 80, bytesPerBlock: 655360, blocksPerRequest: 512 }],
    ranks: [{ stage: 0, kvBytes: 54375000000, blocks: 82969 }],
    decidingRank: 0,
  });
  expect(plan.capacity.contiguous.requests).toBe(162);
  expect(plan.capacity.paged).toMatchObject({ requests: 1536, blocksPerRequest: 54, tailTokens: 14 });
  expect(plan.model.layers).toEqual([{ kind: 'full', count: 80, kvHeads: 8, headDim: 128, valueDim: 128 }]);
  expect(plan.budget.activations).toEqual({
    bytes: 2115294167,
    low: 1900000000,
    high: 2500000001,
    why: 'profile of 8,192 tokens',
  });
});

test('an MTP head is a layer of the model, the layers of a draft model are not', () => {
  const { model } = aPlan();
  const head = { ...aModel.layers[0], kind: 'full', kvHeads: 8, headDim: 128, valueDim: 128, draft: true } as const;
  const layers = [...aModel.layers, head];
  const [mtp, drafted] = jsonOf(aFile(aPlan({ layers }), aPlan({ layers, draft: model }))).plans;
  expect(mtp.model.layers).toMatchObject([{ count: 80 }, { count: 1, draft: true }]);
  expect(drafted.model.layers).toMatchObject([{ count: 80 }]);
  expect(drafted.draft.layers).toMatchObject([{ count: 80 }]);
});

test('places count from 1, in UTF-16 units, with exclusive ends', () => {
  const { range, options } = jsonOf(aFile(aPlan())).plans[0].launch;
  expect(range.start).toEqual({ line: 3, column: 5 });
  expect(range.end).toEqual({ line: 4, column: TEXT.length - TEXT.indexOf('    command') });
  expect(options[1]).toMatchObject({ name: 'max-model-len', value: 8192, line: 4, column: 56 });
  expect(options[3]).toEqual({ name: 'block-size', value: 16, raw: '16', origin: 'default' });
});

test('what is unknown is absent', () => {
  const [plan] = jsonOf(aFile(withoutGpu())).plans;
  expect(Object.keys(plan)).not.toEqual(expect.arrayContaining(['hardware']));
  expect(plan).not.toHaveProperty('capacity');
  expect(plan.kv).not.toHaveProperty('blocks');
  expect(plan.kv.bytesPerTokenPerGpu).toBe(aLayout.bytesPerToken.value);
});

test('a value the engine would not take is said in place of the value', () => {
  const option = { name: 'max-model-len', raw: 'banana', origin: 'file' as const, line: 4, error: 'not a number' };
  const [plan] = jsonOf(aFile(aPlan({ options: [option] }))).plans;
  expect(plan.launch.options).toEqual([
    { name: 'max-model-len', raw: 'banana', origin: 'file', line: 4, unresolved: 'not a number' },
  ]);
});
