/** The dashboard in a real workbench for long, at play, while its file is edited; then closed. Needs the packaged extension. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { useWorkbench } from '../ui/session';
import { eventually, focusText, openFile, runCommand, typeBehind, webviewFrame } from '../ui/workbench';
import { extensionHost } from './extension-host';
import { inWords, mib, scaleOf, type Weight } from './weigh';

const MINUTES = Number(process.env.SOAK_MINUTES ?? 10);
const EDITS = Number(process.env.SOAK_EDITS ?? 1000);
const WORKER = 'pool-worker';

const workbench = useWorkbench();

/** The dashboard on its Pool tab, with what is done to it. */
async function openPool(page: Page) {
  await runCommand(page, 'KV Planner: Open Dashboard');
  const frame = await webviewFrame(page, 'body[data-ready]');
  await frame.getByRole('tab', { name: 'Pool' }).click();
  const deck = frame.locator('.pool .pool-deck');
  await frame.locator('.pool .pool-deck[data-step]').waitFor();
  /**
   * Presses a button if it is there. Not by the pointer: the focus stays in the text, where the next edit goes; and at once,
   * since at play it may be another one a moment later.
   */
  const press = (name: string): Promise<boolean> =>
    deck.evaluate((element, label) => {
      const named = (button: Element) => (button.getAttribute('aria-label') ?? button.textContent) === label;
      const button = [...element.querySelectorAll<HTMLElement>('vscode-button')].find(named);
      button?.click();
      return button !== undefined;
    }, name);
  const look = async () =>
    `${await deck.locator('figure').first().textContent()} ${await deck.getByText('Loading').count()}`;
  return {
    /** Waits until two seconds have changed nothing. */
    async calm() {
      let [before, since] = ['', Date.now()];
      await eventually('rest', async () => {
        const now = await look();
        since = now === before ? since : Date.now();
        before = now;
        return Date.now() - since > 2000 ? true : undefined;
      });
    },
    step: async () => Number(await deck.getAttribute('data-step')),
    /** From the start again, if it has come to its end. */
    async play() {
      const ended = await deck.getByRole('button', { name: 'Play' }).count();
      if (ended > 0) {
        await press('To the start');
        await press('Play');
      }
    },
    /** Paused before its first step. */
    async rewind() {
      await eventually('the start', async () => {
        await press('Pause');
        await press('To the start');
        return (await deck.getAttribute('data-step')) === '0' ? true : undefined;
      });
    },
  };
}

async function closeDashboard(page: Page): Promise<void> {
  await page.locator('.tab', { hasText: 'KV Planner' }).first().click({ button: 'middle' });
  await eventually('the panel to be gone', async () =>
    page.frames().some((frame) => frame.url().includes('extensionId=kv-planner')) ? undefined : true,
  );
}

/** The memory share, one digit taken away and another one written: another pool each time. Behind an even `n` it is complete. */
const edit = (page: Page, n: number): Promise<void> => page.keyboard.press(n % 2 ? 'Backspace' : `${n % 6}`);

interface Held {
  readonly page: Weight;
  /** Bytes of the extension host's heap. */
  readonly host: number;
}

test(`${MINUTES} minutes of animation and ${EDITS} edits in the file leave no weight behind`, async () => {
  const { page } = workbench;
  const { weigh, workers } = await scaleOf(page);
  const simulations = () => workers().filter((name) => name === WORKER).length;
  await openFile(page, 'vllm/llama-3.1-70b-8xh100.compose.yaml');
  const host = await extensionHost();
  const weighAll = async (when: string): Promise<Held> => {
    const held = { page: await weigh(), host: await host.weigh() };
    console.log(`${when}: ${inWords(held.page)}, extension host ${mib(held.host)} MiB`);
    return held;
  };

  /** Opened, edited under, weighed on the way, closed. */
  const round = async (edits: number, minutes: number, marks: readonly number[]): Promise<Held[]> => {
    const pool = await openPool(page);
    await focusText(page);
    await typeBehind(page, '--gpu-memory-utilization', '');
    await pool.play();
    const held: Held[] = [];
    const start = Date.now();
    let step = -1;
    let moved = 0;
    for (let n = 1; n <= edits; n++) {
      await edit(page, n);
      await page.waitForTimeout(Math.max(0, start + (n * minutes * 60_000) / edits - Date.now()));
      if (marks.includes(n)) {
        await pool.rewind();
        for (const again of [n + 1, 6]) {
          await edit(page, again); // another pool and this one again, of which nothing has been played
          await pool.calm();
        }
        expect(await pool.step()).toBe(0);
        held.push(await weighAll(`after ${n} edits`));
      }
      await pool.play();
      const now = await pool.step();
      moved += now === step ? 0 : 1;
      step = now;
      expect(simulations(), 'simulations alive').toBe(1);
    }
    expect(moved, 'looks at which it had moved').toBeGreaterThan(edits / 2);
    await closeDashboard(page);
    return held;
  };

  // What the workbench makes when a text is first edited and a page first shown is the workbench's.
  await round(20, 0.2, []);
  const before = await weighAll('closed');
  const tenth = Math.ceil(EDITS / 20) * 2;
  const held = await round(
    EDITS,
    MINUTES,
    Array.from({ length: 10 }, (_, i) => Math.min(EDITS, (i + 1) * tenth)),
  );
  const after = await weighAll('closed');

  const [first, last] = [held[0], held.at(-1)] as [Held, Held];
  expect.soft(last.page.heap / first.page.heap, 'heap of the page').toBeLessThan(1.1);
  expect.soft(last.host / first.host, 'heap of the extension host').toBeLessThan(1.1);
  expect.soft(last.page.nodes / first.page.nodes, 'nodes').toBeLessThan(1.1);
  // A picture more or less is on its way at one look: the later half against the earlier one.
  const simulation = held.map(({ page }) => page.workers.get(WORKER) ?? Number.NaN);
  expect.soft(sum(simulation.slice(5)) / sum(simulation.slice(0, 5)), 'heap of the simulation').toBeLessThan(1.1);
  // The dashboard's own, without what the workbench has.
  const own = (held: Held) => held.page.listeners - before.page.listeners;
  expect.soft(own(last) / own(first), 'listeners').toBeLessThan(1.02);
  expect.soft(own(after) / own(first), 'listeners after close').toBeLessThan(0.02);
  expect.soft(after.page.documents, 'documents after close').toBe(before.page.documents);
  expect.soft(simulations(), 'simulations after close').toBe(0);
  expect.soft(after.host / before.host, 'heap of the extension host after close').toBeLessThan(1.1);
});

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
