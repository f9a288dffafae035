import { describe, expect, it } from 'vitest';
import { newNonce, pageHtml } from '../../../src/dashboard/html';
import { PROTOCOL, readParams, readState, readToHost, readToPage } from '../../../src/dashboard/protocol';
import { planView } from '../../../src/dashboard/view-model';
import type { Plan } from '../../../src/planner';
import { aFinding, aLaunch, aPlan } from '../editor/aPlan';
import { untriedOf } from './tried';

const untried = {};
const points = [
  { length: 256, contiguous: 162, paged: 5185 },
  { length: 8192, contiguous: 162, paged: 162 },
];
const viewOf = (plan: Plan = aPlan()) =>
  planView({
    tried: untriedOf(plan),
    points,
    line: 2,
    whatIf: untried,
    remote: '',
  });

describe('view of a plan', () => {
  it('passes the check that the page makes of it', () => {
    const state = { version: PROTOCOL, file: 'file:///serve.sh', index: 0, whatIf: untried };
    expect(
      readToPage(JSON.parse(JSON.stringify({ version: PROTOCOL, type: 'show', view: viewOf(), state }))),
    ).toBeDefined();
  });

  it('says the answer and shows the memory of one GPU as shares that fill it', () => {
    const view = viewOf();
    expect(view.headline).toMatchObject({ tone: 'good', text: 'Starts · 1,024 requests fit' });
    expect(view.budget?.segments.reduce((sum, s) => sum + s.share, 0)).toBeCloseTo(1, 3);
    expect(view.budget?.segments.map((s) => [s.label, s.size, s.range])).toContainEqual([
      'Activations',
      '2.20 GiB',
      '1.60 to 2.80 GiB',
    ]);
    expect(view.facts.map((f) => [f.label, f.value])).toEqual([
      ['KV per token', '40 KiB'],
      ['Blocks', '82,969'],
      ['Fit paged', '1,536'],
      ['Fit contiguous', '162'],
      ['Longest request', '320.0 MiB'],
      ['Longest context', '1,327,488'],
    ]);
    expect(view.requests?.marks).toEqual([
      { length: 850, label: 'workload 850' },
      { length: 8192, label: 'max length 8,192' },
    ]);
  });

  it.each<[string, Partial<Plan>, RegExp]>([
    [
      'asks for the GPU',
      { hardware: undefined, budget: undefined, capacity: undefined, starts: 'unknown' },
      /Pick a GPU/,
    ],
    [
      'says that KV memory is given',
      { budget: undefined, given: { kvMemory: 54_375_000_000 } },
      /given as 50\.64 GiB per GPU/,
    ],
    ['points at the findings', { budget: undefined }, /findings below say why/],
  ])('%s where a part is missing', (_, over, words) => {
    expect(viewOf(aPlan(over)).missing).toMatch(words);
  });

  it('names invisible characters of the file', () => {
    const launch = aLaunch({ title: 'a\u202Eb' });
    const plan = aPlan({ launch, findings: [aFinding({ message: 'x\u200By' })] });
    const text = JSON.stringify(viewOf(plan));
    expect(text).not.toMatch(/[\u202E\u200B]/);
  });
});

describe('protocol', () => {
  const request = { version: PROTOCOL, type: 'request', id: 1, method: 'whatIf', params: {} };

  it.each<[string, unknown, boolean]>([
    ['ready', { version: PROTOCOL, type: 'ready' }, true],
    ['a request', request, true],
    ['another version', { ...request, version: PROTOCOL + 1 }, false],
    ['an unknown type', { version: PROTOCOL, type: 'exec', command: 'rm' }, false],
    ['a command that is not offered', { version: PROTOCOL, type: 'run', command: 'workbench.action.quit' }, false],
    ['a method that is not offered', { ...request, method: 'exec' }, false],
    ['a number that is none', { ...request, id: -1 }, false],
    ['a line that is no number', { version: PROTOCOL, type: 'run', command: 'reveal', line: -1 }, false],
    ['nothing', undefined, false],
  ])('from the page: %s', (_, message, taken) => {
    expect(readToHost(message) !== undefined).toBe(taken);
  });

  it.each<[string, unknown, boolean]>([
    ['as asked', { whatIf: { ...untried, gpu: 'L4' } }, true],
    ['no text', { whatIf: { ...untried, gpus: 8 } }, false],
    ['too long', { whatIf: { ...untried, gpu: 'x'.repeat(101) } }, false],
    ['nothing', undefined, false],
  ])('values of a request: %s', (_, params, taken) => {
    expect(readParams('whatIf', params) !== undefined).toBe(taken);
  });

  it('drops a state of another version', () => {
    const state = { version: PROTOCOL, file: 'file:///a', index: 0, whatIf: untried };
    expect(readState(state)).toEqual(state);
    expect(readState({ ...state, version: 0 })).toBeUndefined();
    expect(readState(null)).toBeUndefined();
  });
});

describe('page', () => {
  it('lets only our own script and style in', () => {
    const html = pageHtml({
      script: 'vscode-resource:/main.js',
      style: 'vscode-resource:/main.css',
      workers: 'vscode-resource:/workers',
      cspSource: 'vscode-resource:',
      nonce: 'n0',
      styleNonce: 's0',
      language: 'en',
    });
    const policy = /Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1]?.split('; ');
    expect(policy).toEqual([
      "default-src 'none'",
      "script-src 'nonce-n0'",
      "style-src vscode-resource: 'nonce-s0'",
      'font-src vscode-resource:',
      'img-src vscode-resource: data: blob:',
      'connect-src vscode-resource:',
      'worker-src blob:',
    ]);
    expect([...html.matchAll(/<script[^>]*>/g)].every((tag) => tag[0].includes('nonce="n0"'))).toBe(true);
    expect(html).not.toMatch(/\son\w+=|style="/);
  });

  it('never uses a nonce twice', () => {
    expect(newNonce()).toMatch(/^[0-9a-f]{32}$/);
    expect(newNonce()).not.toBe(newNonce());
  });
});
