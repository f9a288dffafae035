/** The dashboard left open for long: its memory, its simulation and its listeners do not grow. Needs the built page. */
import { expect, test } from 'vitest';
import { launchChromium } from '../../scripts/vscode/chromium.mjs';
import { PROTOCOL, type View } from '../../src/dashboard/protocol';
import { openPage, openTab, tell, viewOf } from '../ui/fake-host';
import { inWords, scaleOf, type Weight } from './weigh';

const MINUTES = Number(process.env.SOAK_MINUTES ?? 10);
const EDITS = Number(process.env.SOAK_EDITS ?? 1000);

/** The launch after an edit: another pool each time. */
function edited(n: number): View {
  const view = viewOf();
  if (view.kind !== 'plan' || view.pool.kind !== 'world' || view.pool.world.engine !== 'vllm-v1') {
    throw new Error('The plan has no pool of vLLM V1.');
  }
  const blocks = 4000 + (n % 50);
  return {
    ...view,
    pool: {
      ...view.pool,
      blocks: blocks - 1,
      world: { ...view.pool.world, blocks },
      contiguous: view.pool.contiguous && { ...view.pool.contiguous, tokens: blocks * 16 },
    },
  };
}

test(`${MINUTES} minutes of animation and ${EDITS} edits leave no weight behind`, async () => {
  const browser = await launchChromium();
  try {
    const page = await openPage(browser, edited(0), { width: 1100, height: 900 });
    const { weigh, workers } = await scaleOf(page);
    await openTab(page, 'Pool');
    const deck = page.locator('.pool .pool-deck');
    await page.locator('.pool .pool-deck[data-step]').waitFor();
    const play = deck.getByRole('button', { name: 'Play' });
    const pause = (MINUTES * 60_000) / EDITS;
    const seen: Weight[] = [];
    let shown = 0;
    let step = -1;
    for (let n = 1; n <= EDITS; n++) {
      await tell(page, { version: PROTOCOL, type: 'show', view: edited(n) });
      if (n === 1 || n % 25 === 0) {
        // Away and back: the other tab's simulation takes this one's place, and gives it back.
        await openTab(page, 'Learn');
        await page.locator('.learn .pool-deck[data-step]').waitFor();
        await openTab(page, 'Pool');
      }
      if ((await play.count()) > 0) {
        await deck.getByRole('button', { name: 'To the start' }).click();
        // A run that an edit replaced goes on by itself as soon as it is loaded: then there is nothing to press.
        await play.click({ timeout: 1000 }).catch(() => {});
      }
      await page.waitForTimeout(pause);
      const now = Number(await deck.getAttribute('data-step'));
      shown += now === step ? 0 : 1;
      step = now;
      expect(workers(), 'simulations alive').toEqual(['pool-worker']);
      if (n === Math.ceil(EDITS / 5) || n === EDITS) {
        seen.push(await weigh());
        console.log(`after ${n} edits: ${inWords(seen.at(-1) as Weight)}; it had moved at ${shown} looks`);
      }
    }
    const [first, last] = seen as [Weight, Weight];
    expect(shown, 'it was at play').toBeGreaterThan(EDITS / 2);
    expect.soft(last.heap / first.heap, 'heap').toBeLessThan(1.1);
    expect.soft(last.listeners / first.listeners, 'listeners').toBeLessThan(1.02);
    expect.soft(last.nodes / first.nodes, 'nodes').toBeLessThan(1.1);
    await page.close();
    expect(browser.contexts().flatMap((context) => context.pages())).toEqual([]);
  } finally {
    await browser.close();
  }
});
