/** Files that are renamed, deleted and saved under a name, and launches that move within them, while a panel shows them. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { memoryIn } from '../../../src/dashboard/memory';
import { type Pin, PROTOCOL, type Shown } from '../../../src/dashboard/protocol';
import { editor, vscode } from './fake-editor';
import { compose, type Host, openHost, type Page, pageOf } from './host';

vi.mock('vscode', async () => (await import('./fake-editor')).vscode);

let host: Host;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
  host = openHost();
});
afterEach(() => {
  host.dispose();
  expect(vi.getTimerCount()).toBe(0);
  editor.reset();
  vi.useRealTimers();
});

const A = '/w/deploy/a.compose.yaml';
const tried = { 'max-length': '2048' };

/** What the page shows once everything has come to rest. */
async function rested(page: Page): Promise<Shown> {
  await vi.advanceTimersByTimeAsync(1500);
  return page.shown() as Shown;
}
const wordsOf = ({ view }: Shown): string =>
  view.kind === 'plan' ? `${view.launch.title} in ${view.file}, ${view.controls.changes.map((c) => c.to)}` : view.text;

describe('the launch that is shown', () => {
  test.each([
    ['its file', A, '/w/deploy/b.compose.yaml'],
    ['a folder above it', '/w/deploy', '/w/prod'],
  ])('stays shown with what is tried on it when %s is renamed', async (_, from, to) => {
    const page = await host.show(editor.open(A, compose('one', 'two')));
    await page.try(tried);
    editor.rename(from, to);
    const name = A.replace(from, to);
    const shown = await rested(page);
    expect(wordsOf(shown)).toBe(`one in ${name.replace('/w/', '')}, 2048`);
    expect(shown.state).toMatchObject({ file: `file://${name}`, index: 0, whatIf: tried });
    editor.edit(editor.open(name, compose('zero', 'one', 'two')), compose('none', 'zero', 'one', 'two'));
    expect((await rested(page)).state).toMatchObject({ index: 2, whatIf: tried });
  });

  test('keeps what was tried on the others of a renamed file too', async () => {
    const document = editor.open(A, compose('one', 'two'));
    const page = await host.show(document);
    await page.try(tried);
    const { dashboard } = host;
    await dashboard.show(document as never, document.getText().indexOf('two'));
    expect(wordsOf(await rested(page))).toBe('two in deploy/a.compose.yaml, ');
    editor.rename(A, '/w/c.compose.yaml');
    const renamed = editor.open('/w/c.compose.yaml', compose('one', 'two'));
    await dashboard.show(renamed as never, 0);
    expect(wordsOf(await rested(page))).toBe('one in c.compose.yaml, 2048');
  });

  test('keeps what is tried when it is renamed itself, and another comes before it', async () => {
    const document = editor.open(A, compose('one', 'two'));
    const page = await host.show(document);
    await page.try(tried);
    editor.edit(document, compose('uno', 'two'));
    await rested(page);
    editor.edit(document, compose('zero', 'uno', 'two'));
    expect(wordsOf(await rested(page))).toBe('uno in deploy/a.compose.yaml, 2048');
    await host.dashboard.show(document as never, document.getText().indexOf('two'));
    await host.dashboard.show(document as never, document.getText().indexOf('uno'));
    expect(wordsOf(await rested(page))).toBe('uno in deploy/a.compose.yaml, 2048');
  });

  test.each([
    ['in the editor', false],
    ['behind its back', true],
  ])('is not shown any more when its file is deleted %s, and again when the file is back', async (_, behind) => {
    const page = await host.show(editor.open(A, compose('one')));
    await page.try(tried);
    editor.remove(A, behind);
    const shown = await rested(page);
    expect(shown.view).toEqual({ kind: 'error', text: 'deploy/a.compose.yaml was deleted.' });
    await expect(page.ask('apply', {})).rejects.toThrow('was deleted');
    editor.restore(A, compose('one'));
    expect(wordsOf(await rested(page))).toBe('one in deploy/a.compose.yaml, 2048');
  });

  test('keeps what is tried when a text without a name is saved under one', async () => {
    const untitled = editor.openUntitled(compose('one'));
    const page = await host.show(untitled);
    await page.try(tried);
    editor.look(editor.open(A, untitled.getText()));
    editor.close(untitled);
    expect(wordsOf(await rested(page))).toBe('one in deploy/a.compose.yaml, 2048');
  });

  test('is told as closed where its text had no name', async () => {
    const untitled = editor.openUntitled(compose('one'));
    const page = await host.show(untitled);
    editor.close(untitled);
    expect(wordsOf(await rested(page))).toMatch(/was closed without being saved/);
  });

  test('is planned from the disk when its file is closed with edits that nobody saved', async () => {
    const document = editor.open(A, compose('one'));
    const page = await host.show(document);
    editor.edit(document, compose('one', 'two').replace('one:', 'uno:'));
    expect(wordsOf(await rested(page))).toMatch(/^uno/);
    editor.close(document);
    expect(wordsOf(await rested(page))).toMatch(/^one/);
  });
});

describe('a panel of an earlier window', () => {
  const restored = async (state: object): Promise<Page> => {
    const panel = editor.newPanel();
    await host.dashboard.restore(panel as never, state);
    return pageOf(panel);
  };
  const kept = { version: PROTOCOL, file: `file://${A}`, index: 0, whatIf: tried };

  test('shows what it showed, wherever the launch stands now', async () => {
    editor.open(A, compose('zero', 'one'));
    const page = await restored({ ...kept, sighting: { name: '0 one', of: 1 } });
    expect(wordsOf(await rested(page))).toBe('one in deploy/a.compose.yaml, 2048');
  });

  test('reads what was kept before launches were held by name', async () => {
    editor.open(A, compose('zero', 'one'));
    expect(wordsOf(await rested(await restored(kept)))).toBe('zero in deploy/a.compose.yaml, 2048');
  });

  test('keeps what was tried though the editor is looked at before it is back', async () => {
    const other = editor.open('/w/other.compose.yaml', compose('other'));
    await host.plans.of(other as never); // known at once
    const document = editor.open(A, compose('one'));
    const panel = editor.newPanel();
    const back = host.dashboard.restore(panel as never, { ...kept, sighting: { name: '0 one', of: 1 } });
    await host.dashboard.show(other as never, 0);
    await back;
    const page = await pageOf(panel);
    await host.dashboard.show(document as never, 0);
    expect(wordsOf(await rested(page))).toBe('one in deploy/a.compose.yaml, 2048');
  });

  test('says so where its file is gone', async () => {
    const page = await restored(kept);
    expect(wordsOf(await rested(page))).toBe(
      'deploy/a.compose.yaml can no longer be read: it may have been moved or deleted.',
    );
  });
});

test('in a browser the host keeps what the page does, and gives back the later of two', async () => {
  const stored = new Map<string, unknown>();
  const storage = {
    get: (key: string) => stored.get(key),
    update: async (key: string, value: unknown) => stored.set(key, value),
  };
  expect(memoryIn(storage as never), 'a desktop saves when it is left').toBeUndefined();
  const memory = memoryIn(storage as never, vscode.UIKind.Web);
  const [, document] = [host.dispose(), editor.open(A, compose('one'))];
  host = openHost(memory);
  const page = await host.show(document);
  const kept = {
    version: PROTOCOL,
    file: `file://${A}`,
    index: 0,
    whatIf: tried,
    page: { tab: '"<b>', views: {} },
    edition: 5,
  };
  page.panel.said.fire({ version: PROTOCOL, type: 'kept', state: kept });
  page.panel.dispose();
  for (const [edition, changes, tab] of [
    [4, '2048', '&quot;\\&quot;&lt;b>&quot;'],
    [6, '', 'own'],
  ] as const) {
    const panel = editor.newPanel();
    const given = { ...kept, whatIf: {}, page: { tab: 'own', views: {} }, edition };
    await host.dashboard.restore(panel as never, given);
    expect((panel.webview as { html: string }).html).toContain(tab);
    expect(wordsOf(await rested(await pageOf(panel)))).toBe(`one in deploy/a.compose.yaml, ${changes}`);
    panel.dispose();
  }
  await host.show(document);
  expect(memory?.latest(undefined), 'a new panel begins with nothing').toBeUndefined();
});

describe('a pin', () => {
  const pinOf = async (page: Page): Promise<Pin> => {
    const { launches } = await page.ask<{ launches: { pin: Pin }[] }>('pinnable', {});
    return launches[0]?.pin as Pin;
  };
  const again = async (page: Page, pins: readonly Pin[]) => {
    const { columns, pins: found } = await page.compare(pins);
    return { said: columns.map(({ title, error }) => error ?? title), pins: found };
  };

  test('stays on its launch when another is written before it, and when it is renamed after that', async () => {
    const document = editor.open(A, compose('one', 'two'));
    const page = await host.show(document, 6);
    const pin = await pinOf(page);
    expect(pin).toMatchObject({ index: 1, sighting: { name: '0 two', of: 2 } });
    editor.edit(document, compose('zero', 'one', 'two'));
    const first = await again(page, [pin]);
    expect(first.said).toEqual(['two (deploy/a.compose.yaml)']);
    editor.edit(document, compose('zero', 'one', 'deux'));
    const second = await again(page, first.pins);
    editor.edit(document, compose('more', 'zero', 'one', 'deux'));
    expect((await again(page, second.pins)).said).toEqual(['deux (deploy/a.compose.yaml)']);
    editor.edit(document, compose('zero', 'one'));
    const last = await page.compare(second.pins);
    expect(last.columns[0]).toMatchObject({
      title: 'deux (deploy/a.compose.yaml)',
      error: 'The file has no such launch any more.',
    });
    expect(last.pins).toEqual(second.pins);
  });

  test('follows its file when that or its folder is renamed, and says when it is deleted', async () => {
    editor.open(A, compose('one'));
    const page = await host.show(editor.open('/w/other.compose.yaml', compose('other')));
    const pin: Pin = { file: `file://${A}`, index: 0, whatIf: {} };
    expect((await again(page, [pin])).said).toEqual(['one (deploy/a.compose.yaml)']);
    const shows = page.panel.told.length;
    editor.rename('/w/deploy', '/w/prod');
    await rested(page);
    expect(page.panel.told.length, 'the page is told to ask again').toBeGreaterThan(shows);
    editor.rename('/w/prod/a.compose.yaml', '/w/prod/b.compose.yaml');
    const { said, pins } = await again(page, [pin]);
    expect(said).toEqual(['one (prod/b.compose.yaml)']);
    expect(pins[0]?.file).toBe('file:///w/prod/b.compose.yaml');
    editor.open(A, compose('new')); // another file takes the old name
    expect((await again(page, [pin, ...pins])).said).toEqual([
      'new (deploy/a.compose.yaml)',
      'one (prod/b.compose.yaml)',
    ]);
    editor.remove('/w/prod/b.compose.yaml');
    expect((await again(page, pins)).said).toEqual(['prod/b.compose.yaml was deleted.']);
  });

  test('of a revision finds its launch there by name, and says when the revision is gone', async () => {
    const document = editor.open(A, compose('one', 'two'));
    const page = await host.show(document, 6);
    editor.disk.set('/w/deploy/a.compose.yaml.git', compose('two'));
    const revision = { uri: 'git:/w/deploy/a.compose.yaml.git?1a2b', label: '1a2b' };
    const pin: Pin = { ...(await pinOf(page)), revision };
    const { said, pins } = await again(page, [pin]);
    expect(said).toEqual(['two (deploy/a.compose.yaml)']);
    expect(pins).toEqual([pin]);
    const nowhere = { ...pin, revision: { ...revision, uri: 'git:/nowhere?3c4d' } };
    const other = { ...pin, sighting: { name: '0 one', of: 2 } };
    const gone = 'This revision has no such launch, or can no longer be read.';
    expect((await again(page, [nowhere, other])).said).toEqual([gone, gone]);
  });
});
