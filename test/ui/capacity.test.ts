/** The Capacity and Compare views alone, on a host that answers as the extension does. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchChromium } from '../../scripts/vscode/chromium.mjs';
import { planText } from '../../src/planner';
import { reportHtml } from '../../src/report/html';
import { reportOf } from '../../src/report/sections';
import { expectNoBarriers, openTab, picture, THEME_NAMES, tell } from './fake-host';
import { openReal, type RealHost } from './real-host';

const SAMPLE = 'vllm/qwen3-32b.vllm.yaml';

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());

const field = (page: Page, name: string) => page.getByRole('textbox', { name });

/** Types a value and commits it, and waits until the host has answered. */
async function tryValue({ page }: RealHost, name: string, value: string): Promise<void> {
  await field(page, name).fill(value);
  await page.keyboard.press('Enter');
}

const changes = (page: Page) => page.locator('.changes li').allTextContents();
const heading = (page: Page) => page.locator('#headline').textContent();

/** Every chart and the heat map are there. */
async function allDrawn(page: Page): Promise<void> {
  await expect.poll(() => page.locator('.chart-panel:visible h2').count()).toBe(6);
}

describe('what-if', () => {
  test('every option of the engine is tried under its own name, applied as one edit, and then nothing is left to try', async () => {
    const host = await openReal(browser, SAMPLE);
    const { page } = host;
    const before = host.text();
    const values: [string, string, string][] = [
      ['Tensor parallel', '4', 'tensor-parallel-size'],
      ['Block size', '32', 'block-size'],
      ['Memory share', '0.8', 'gpu-memory-utilization'],
      ['Max length', '16384', 'max-model-len'],
      ['Max sequences', '17', 'max-num-seqs'],
      ['Batch tokens', '4096', 'max-num-batched-tokens'],
      ['Prompt tokens', '900', 'prompt'],
    ];
    for (const [name, value, option] of values) {
      await tryValue(host, name, value);
      await expect
        .poll(() => changes(page))
        .toContainEqual(expect.stringMatching(new RegExp(`^${option} .* → ${value}$`)));
    }
    await expect.poll(() => heading(page)).toMatch(/17 requests fit/);
    expect(host.text()).toBe(before);
    await page.getByRole('button', { name: 'Apply to file' }).click();
    await expect.poll(() => host.text()).not.toBe(before);
    await expect.poll(() => changes(page)).toEqual([]);
    expect(host.text()).toMatch(/max-model-len: 16384/);
    expect(host.text()).toMatch(/kv-planner:.* prompt=900/);
    await expect.poll(() => heading(page)).toMatch(/17 requests fit/);
    await host.close();
  });

  test('a value that the engine would not take is told at its field, keeps its text, and leaves the rest', async () => {
    const host = await openReal(browser, SAMPLE);
    const { page } = host;
    await tryValue(host, 'Max sequences', '9');
    await tryValue(host, 'Memory share', '1.5');
    const box = page.locator('[data-key="memory-share"]');
    await expect.poll(() => box.locator('.error').textContent()).toMatch(/must be .* not 1\.5/);
    expect(await field(page, 'Memory share').inputValue()).toBe('1.5');
    expect(await field(page, 'Memory share').getAttribute('aria-invalid')).toBe('true');
    await tryValue(host, 'Prompt tokens', '0');
    await expect
      .poll(() => page.locator('[data-key="prompt"] .error').textContent())
      .toMatch(/^prompt must be a whole number from 1 to \d+, not “0”\.$/);
    await tryValue(host, 'Output tokens', '1,000');
    await expect.poll(() => heading(page)).toMatch(/ 9 requests fit/);
    await expect.poll(() => page.locator('.detail').textContent()).toMatch(/1,000 output tokens/);
    await expect.poll(() => heading(page)).toMatch(/ 9 requests fit/);
    await page.getByRole('button', { name: 'Reset' }).click();
    await expect.poll(() => heading(page)).toMatch(/64 requests fit/);
    expect(await field(page, 'Memory share').inputValue()).toBe('0.92');
    await host.close();
  });

  test('what the form cannot hold is planned, and Apply says why not', async () => {
    const host = await openReal(browser, 'tensorrt-llm/config.pbtxt');
    const { page } = host;
    await tryValue(host, 'Tensor parallel', '4');
    await expect.poll(() => page.locator('.trial-notes').textContent()).toMatch(/no place for tensor_parallel_size/);
    await expect.poll(() => page.locator('.subject').first().textContent()).toMatch(/tensor parallel 4/);
    expect(await page.getByRole('button', { name: 'Apply to file' }).getAttribute('disabled')).not.toBeNull();
    await host.close();
  });

  test('with the keyboard alone: a format picked, applied', async () => {
    const host = await openReal(browser, SAMPLE);
    const { page } = host;
    await page.locator('[data-key="kv-dtype"] vscode-dropdown').focus();
    await page.keyboard.press('Home'); // `auto`
    await expect.poll(() => changes(page)).toEqual([expect.stringMatching(/^kv-cache-dtype fp8 → auto$/)]);
    for (
      let i = 0;
      i < 30 && !(await page.evaluate(() => document.activeElement?.textContent === 'Apply to file'));
      i++
    ) {
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Enter');
    await expect.poll(() => host.text()).toMatch(/kv-cache-dtype: auto/);
    await host.close();
  });
});

describe('charts', () => {
  test('each follows what is tried, with the same as a table', async () => {
    const host = await openReal(browser, SAMPLE);
    const { page } = host;
    await allDrawn(page);
    const tables = () => page.locator('.chart-panel table').evaluateAll((all) => all.map((t) => t.textContent));
    const before = await tables();
    expect(before).toHaveLength(6);
    await page.locator('[data-key="gpu"] vscode-dropdown').evaluate((dropdown: HTMLSelectElement) => {
      dropdown.value = 'H200 SXM';
      dropdown.dispatchEvent(new Event('change'));
    });
    await expect.poll(async () => (await tables()).filter((text, i) => text !== before[i]).length).toBe(6);
    await host.close();
  });

  test('each is saved as a picture and as a table, and all of it as a report', async () => {
    const host = await openReal(browser, SAMPLE);
    const { page, saved } = host;
    await allDrawn(page);
    for (const kind of ['PNG', 'CSV']) {
      for (const one of await page.locator('.chart-panel .export').getByText(kind).all()) {
        await one.click();
      }
    }
    await page.getByText('Save as HTML').click();
    await expect.poll(() => saved.length).toBe(13);
    const texts = saved.flatMap((s) => ('type' in s && s.type === 'csv' ? [s.content] : []));
    expect(texts).toContainEqual(expect.stringMatching(/^Tokens per request,Paged,Contiguous\r\n256,\d+,20\r\n/));
    const pictures = saved.flatMap((s) => ('type' in s && s.type === 'png' ? [s.content] : []));
    const charts = saved.flatMap((s) => ('charts' in s ? s.charts.map((c) => c.png) : []));
    expect(pictures.length + charts.length).toBe(12);
    expect([...pictures, ...charts].every((png) => png.startsWith('iVBORw0KGgo') && png.length > 2000)).toBe(true);
    await host.close();
  });

  test('the pictures of a report fit its page, light and dark, whatever the theme they were saved in', async () => {
    const host = await openReal(browser, SAMPLE, { theme: 'vscode-high-contrast', width: 320 });
    await allDrawn(host.page);
    await host.page.getByText('Save as HTML').click();
    await expect.poll(() => host.saved.length).toBe(1);
    const text = host.text();
    const pictures = host.saved.flatMap((s) => ('charts' in s ? s.charts : []));
    const html = reportHtml(reportOf([{ name: SAMPLE, text, result: planText({ name: SAMPLE, text }, {}) }]), {
      pictures,
    });
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await browser.newPage({ colorScheme, viewport: { width: 1000, height: 900 } });
      await page.setContent(html);
      const corners = await page.locator('img').evaluateAll(async (images) => {
        const pen = document.createElement('canvas').getContext('2d');
        return Promise.all(
          (images as HTMLImageElement[]).map(async (image) => {
            await image.decode();
            pen?.drawImage(image, 0, 0);
            return [image.naturalWidth >= 800, ...(pen?.getImageData(1, 1, 1, 1).data ?? [])];
          }),
        );
      });
      const ground = colorScheme === 'light' ? 255 : 18;
      expect(corners).toEqual(pictures.map(() => [true, ground, ground, ground, 255]));
      await picture(page, `report-${colorScheme}`);
      await page.close();
    }
    await host.close();
  });

  test('a launch without a GPU says so in place of charts, and a host that fails is told', async () => {
    const host = await openReal(browser, SAMPLE);
    const { page } = host;
    await allDrawn(page);
    await host.edit(host.text().replace(/gpu=\S+/, ''));
    await page.locator('.charts > .note').getByText('How many requests fit is not known').waitFor();
    expect(await page.locator('.chart-panel:visible').count()).toBe(0);
    await page.evaluate(() => {
      (window as unknown as { replies: Record<string, unknown> }).replies.studies = () => {
        throw new Error('No studies today.');
      };
    });
    await host.edit(host.text());
    await page.getByText('No studies today.').waitFor();
    await host.close();
  });
});

describe('compare', () => {
  test('a launch as it is and as it is tried, and on another engine, side by side; pins outlive a reload', async () => {
    const host = await openReal(browser, SAMPLE);
    const { page } = host;
    await page.getByRole('button', { name: 'Pin to compare' }).click();
    await page.getByText('One plan is pinned').waitFor();
    await openTab(page, 'Capacity');
    await tryValue(host, 'Max sequences', '9');
    await expect.poll(() => heading(page)).toMatch(/ 9 requests fit/);
    await page.getByRole('button', { name: 'Pin to compare' }).click();
    const row = page.locator('table.compared tr', { hasText: 'Requests at once' });
    await expect
      .poll(() => row.locator('td').allTextContents())
      .toEqual(['64', expect.stringMatching(/^9 \(differs\)/)]);
    expect(await row.locator('td.differs').count()).toBe(1);
    await page.locator('.pin-controls vscode-dropdown').evaluate((dropdown: HTMLSelectElement) => {
      dropdown.value = '1';
      dropdown.dispatchEvent(new Event('change'));
    });
    await page.getByRole('button', { name: 'Pin', exact: true }).click();
    await expect.poll(() => page.locator('table.compared thead th').count()).toBe(3);
    await page
      .getByRole('row', { name: /^Engine / })
      .getByText('SGLang')
      .waitFor();
    expect(await page.locator('.compare-bars canvas').isVisible()).toBe(true);
    const kept = (await page.evaluate('kept')) as { page?: { views: Record<string, unknown> } }[];
    const state = kept.at(-1);
    expect(state?.page?.views.compare).toHaveLength(3);

    const again = await openReal(browser, SAMPLE, { state });
    await expect.poll(() => again.page.locator('table.compared thead th').count()).toBe(3);
    await again.page.getByRole('button', { name: /^Unpin .*sglang/ }).click();
    await expect.poll(() => again.page.locator('table.compared thead th').count()).toBe(2);
    await again.edit(again.text().replace('max-num-seqs: 64', 'max-num-seqs: 48'));
    const first = again.page.locator('table.compared tr', { hasText: 'Requests at once' }).locator('td').first();
    await expect.poll(() => first.textContent()).toBe('48');
    await again.close();
    await host.close();
  });

  test('a state of another make is no state', async () => {
    const state = {
      version: 2,
      file: 'file:///a',
      index: 0,
      whatIf: {},
      page: { tab: 'compare', views: { compare: [{ file: 7 }] } },
    };
    const { page, close } = await openReal(browser, SAMPLE, { state });
    await page.getByText('Nothing is pinned').waitFor();
    await close();
  });
});

describe.each(THEME_NAMES)('%s', (theme) => {
  test('nothing bars anyone from either view', async () => {
    const host = await openReal(browser, SAMPLE, { theme });
    const { page } = host;
    await allDrawn(page);
    await tryValue(host, 'Memory share', '2');
    await tryValue(host, 'Max length', '16384');
    await expect.poll(() => changes(page)).toHaveLength(1);
    await page.locator('.chart-panel summary').first().click();
    await expectNoBarriers(page);
    await picture(page, `capacity-${theme}`);
    await page.getByRole('button', { name: 'Pin to compare' }).click();
    await page.locator('table.compared').waitFor();
    await expectNoBarriers(page);
    await picture(page, `compare-${theme}`);
    await host.close();
  });
});

test.each([300, 800, 3840])('nothing is cut off at %i pixels', async (width) => {
  const host = await openReal(browser, 'vllm/llama-3.1-8b-l4.compose.yaml', {
    width,
    height: width > 2000 ? 2100 : 900,
  });
  const { page } = host;
  await allDrawn(page);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
  await picture(page, `capacity-${width}`);
  await page.getByRole('button', { name: 'Pin to compare' }).click();
  await page.locator('table.compared').waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
  await picture(page, `compare-${width}`);
  await tell(page, 'nonsense');
  await host.close();
});
