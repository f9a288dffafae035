/** What an open panel holds of the editor, and that it gives all of it back. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createTrials } from '../../../src/dashboard/trials';
import { editor, vscode } from './fake-editor';
import { compose, type Host, openHost } from './host';

vi.mock('vscode', async () => (await import('./fake-editor')).vscode);

let host: Host;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
  host = openHost();
});
afterEach(() => {
  host.dispose();
  editor.reset();
  vi.useRealTimers();
});

test('20 panels, opened, at work and closed, leave no listener, no timer, and nothing that plans for them', async () => {
  const document = editor.open('/w/a.compose.yaml', compose('one', 'two'));
  const held = editor.held();
  const open: number[] = [];
  for (let n = 0; n < 20; n++) {
    const page = await host.show(document);
    await page.try({ 'max-length': String(1024 + n) });
    editor.edit(document, `${document.getText()}# ${n}\n`);
    await vi.waitFor(() => expect(page.panel.told.filter((m) => m.type === 'show').length).toBeGreaterThan(1));
    open.push(editor.held());
    editor.look(document, 5); // a look elsewhere that is still waited for
    page.panel.dispose();
    expect(editor.held()).toBe(held);
  }
  expect(new Set(open).size, 'every panel holds as much').toBe(1);
  expect(open[0]).toBeGreaterThan(held);
  const planned = host.planned.length;
  await vi.advanceTimersByTimeAsync(1000);
  expect(vi.getTimerCount()).toBe(0);
  editor.edit(document, `${document.getText()}# after\n`);
  editor.look(document, 9);
  await vi.advanceTimersByTimeAsync(1000);
  expect(host.planned.length).toBe(planned);
});

test('1,000 edits and what is tried on 1,000 launches leave as much held as one', async () => {
  const document = editor.open('/w/b.compose.yaml', compose('one'));
  const page = await host.show(document);
  const held = editor.held();
  for (let n = 0; n < 1000; n++) {
    editor.edit(document, `${compose('one')}# ${n}\n`);
  }
  await vi.advanceTimersByTimeAsync(1000);
  expect(vi.getTimerCount()).toBe(0);
  expect(editor.held()).toBe(held);
  expect(page.panel.told.filter((m) => m.type === 'show').length).toBeLessThan(20);
});

test('what was tried is kept of the latest launches alone, and nothing of those that were reset', () => {
  const trials = createTrials();
  const launch = (n: number, gpu = 'L4') =>
    ({ document: { uri: vscode.Uri.file(`/w/${n}.yaml`) }, index: 0, whatIf: { gpu } }) as never;
  for (let n = 0; n < 1000; n++) {
    trials.keep(launch(n));
  }
  trials.keep(launch(999, ''));
  const kept = Array.from({ length: 1000 }, (_, n) => n).filter((n) => trials.of(launch(n)).gpu);
  expect(kept).toEqual(Array.from({ length: 99 }, (_, n) => 900 + n));
});
