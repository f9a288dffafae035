/** A page that asks for anything, and an editor in which everything happens at once. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { KNOBS, type Pin, PROTOCOL, type Shown, type WhatIf } from '../../../src/dashboard/protocol';
import { editor, vscode } from './fake-editor';
import { compose, type Host, openHost, pageOf } from './host';

vi.mock('vscode', async () => (await import('./fake-editor')).vscode);

let host: Host;
const unhandled: unknown[] = [];
const note = (reason: unknown): void => void unhandled.push(reason);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
  process.on('unhandledRejection', note);
  host = openHost();
});
afterEach(async () => {
  host.dispose();
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', note);
  expect(unhandled.splice(0)).toEqual([]);
  expect(vi.getTimerCount()).toBe(0);
  editor.reset();
  vi.useRealTimers();
});

const A = '/w/a.compose.yaml';
const rest = () => vi.advanceTimersByTimeAsync(1500);

test('two panels of an earlier window: one of them stays, and it alone is told of edits', async () => {
  const document = editor.open(A, compose('one'));
  const [first, second] = [editor.newPanel(), editor.newPanel()];
  const state = { version: PROTOCOL, file: `file://${A}`, index: 0, whatIf: {} };
  await Promise.all([host.dashboard.restore(first as never, state), host.dashboard.restore(second as never, state)]);
  expect([first.isClosed, second.isClosed]).toEqual([true, false]);
  const page = await pageOf(second);
  const held = editor.held();
  const told = page.panel.told.length;
  editor.edit(document, compose('two'));
  await rest();
  expect(page.panel.told.length).toBeGreaterThan(told);
  await host.show(document);
  expect(editor.panels.length, 'the one that is open is shown').toBe(2);
  expect(editor.held()).toBe(held);
  second.dispose();
  await host.show(document);
  expect(editor.panels.length, 'and a new one when it is closed').toBe(3);
});

describe('a page that asks for anything', () => {
  const long = (n: number) => 'x'.repeat(n);
  const pin: Pin = { file: `file://${A}`, index: 0, whatIf: {} };
  const strange = [
    '',
    'x',
    'file:',
    '::',
    'command:workbench.action.quit',
    'http://a/b',
    'javascript:0',
    `file:///${long(3000)}`,
  ];

  test.each<[string, string, unknown]>([
    ['nothing', 'whatIf', undefined],
    ['an option that is none', 'whatIf', { whatIf: { model: 'x' } }],
    ['a long value', 'whatIf', { whatIf: { gpu: long(101) } }],
    ['more pins than there is room for', 'compare', { pins: Array(13).fill(pin) }],
    ['a place before the first', 'compare', { pins: [{ ...pin, index: -1 }] }],
    [
      'an endless number of charts',
      'saveReport',
      { charts: Array(1000).fill({ title: '', text: '', png: '', dark: '' }) },
    ],
    ['a long title', 'openText', { title: long(10_000), endings: [] }],
    ['an ending that is a path', 'openText', { title: 'x', endings: ['../../etc'] }],
    ['an ending that runs', 'save', { name: 'x', type: 'exe', content: '', base64: false }],
  ])('%s for %s is refused', async (_, method, params) => {
    const page = await host.show(editor.open(A, compose('one')));
    await expect(page.ask(method as never, params)).rejects.toThrow(/of another shape/);
  });

  test('a prototype is not tried', async () => {
    const page = await host.show(editor.open(A, compose('one')));
    const { state } = await page.try(JSON.parse('{"__proto__":{"gpu":"H100"},"constructor":"x"}'));
    expect(Object.entries(state?.whatIf ?? { a: 1 })).toEqual([]);
    expect(Object.getPrototypeOf(state?.whatIf)).toBe(Object.prototype);
  });

  test('pins of any address are answered, each with its reason', async () => {
    const page = await host.show(editor.open(A, compose('one')));
    for (const uri of strange) {
      const pins = [
        { ...pin, file: uri },
        { ...pin, revision: { uri, label: 'x' } },
        { ...pin, index: 2 ** 50 },
        { ...pin, engine: 'no@such' },
        { ...pin, sighting: { name: '', of: 0 } },
      ];
      const { columns, pins: found } = await page.compare(pins);
      expect(columns.map((c) => typeof c.error)).toEqual(Array(5).fill('string'));
      expect(found.length).toBe(5);
    }
    await rest();
    expect(page.shown()?.view.kind).toBe('plan');
  });

  test('what is no message does nothing, and a line that is nowhere is the nearest', async () => {
    const page = await host.show(editor.open(A, compose('one')));
    const told = page.panel.told.length;
    for (const message of [
      null,
      7,
      'x',
      [],
      { version: PROTOCOL },
      { version: PROTOCOL, type: 'run', command: 'rm' },
    ]) {
      page.panel.said.fire(message);
    }
    for (const line of [0, 2 ** 52, Number.NaN]) {
      page.panel.said.fire({ version: PROTOCOL, type: 'run', command: 'reveal', line });
    }
    await rest();
    expect(page.panel.told.length).toBe(told);
    expect(editor.warnings).toEqual([]);
  });

  const EXTREMES = [
    '0',
    '-1',
    '1',
    '1e9',
    '1e308',
    '9'.repeat(100),
    'NaN',
    'Infinity',
    '0.0000001',
    '💥',
    '$(id)',
    '2147483648',
  ];

  test('values at every end are planned or refused, with every study', async () => {
    const page = await host.show(editor.open(A, compose('one')));
    const tried = async (whatIf: WhatIf): Promise<void> => {
      const { view } = await page.try(whatIf);
      expect(view.kind, JSON.stringify(whatIf)).toBe('plan');
      if (view.kind === 'plan' && view.controls.changes.length > 0) {
        await page.ask('studies', {});
      }
    };
    for (const value of EXTREMES) {
      for (const key of KNOBS) {
        await tried({ [key]: value });
      }
      await tried(Object.fromEntries(KNOBS.map((key) => [key, value])));
    }
  });
});

/** The same numbers at every run. */
function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % sides;
  };
}

test.each([1, 2, 3, 4, 5, 6, 7, 8])(
  'whatever happens between question and answer, the last state is shown: %s',
  async (seed) => {
    const roll = dice(seed);
    const names = ['one', 'two', 'three', 'four'];
    let path = A;
    let document = editor.open(path, compose('one', 'two'));
    const page = await host.show(document);
    const held = editor.held();
    const answers: Promise<unknown>[] = [];
    const ask = (promise: Promise<unknown>) => answers.push(promise.catch((error: Error) => error.message));
    const reopen = (): void => {
      document = editor.open(path, editor.disk.get(path) ?? document.text);
    };
    const happenings: (() => void)[] = [
      () => editor.edit(document, compose(...names.slice(0, 1 + roll(4)))),
      () => editor.edit(document, ''),
      () => editor.edit(document, 'services: ['),
      () => ask(page.try({ 'max-length': String(1024 * (1 + roll(8))) })),
      () => ask(page.ask('apply', {})),
      () => ask(page.ask('studies', {})),
      () => ask(page.ask('pinnable', {})),
      () => ask(page.compare([{ file: `file://${path}`, index: roll(3), whatIf: {} }])),
      () => editor.look(document, roll(8)),
      () => {
        const to = `/w/${roll(1000)}.compose.yaml`;
        editor.disk.set(path, document.text);
        editor.rename(path, to);
        path = to;
        reopen();
      },
      () => {
        editor.close(document);
        reopen();
      },
      () => {
        editor.remove(path, true);
        editor.restore(path, document.text);
      },
      () => page.panel.show(false),
      () => page.panel.show(true),
      () => page.panel.said.fire({ version: PROTOCOL, type: 'ready' }),
      () => page.panel.said.fire({ version: PROTOCOL, type: 'run', command: 'reveal', line: roll(50) }),
    ];
    for (let n = 0; n < 120; n++) {
      happenings[roll(happenings.length)]?.();
      if (roll(3) === 0) {
        await vi.advanceTimersByTimeAsync(roll(400));
      }
    }
    page.panel.show(true);
    editor.edit(document, compose('last', 'one'));
    editor.look(document, 3);
    await rest();
    await Promise.all(answers);
    await rest();
    const shown = page.shown() as Shown;
    expect(shown.view.kind === 'plan' && [shown.view.launch.title, shown.view.file]).toEqual(['last', path.slice(3)]);
    expect(shown.state).toMatchObject({ file: vscode.Uri.file(path).toString(), index: 0 });
    expect(editor.held() - held, 'the folder of a pin may be watched').toBeLessThanOrEqual(1);
    page.panel.dispose();
  },
);
