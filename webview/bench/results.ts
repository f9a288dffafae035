/** A finished run: the sentence, the pictures, the table, and what it does not say. */
import { el, textTable } from '../dom';
import { PERSON } from '../host';
import { csvOf, exportButtons } from '../ui/export';
import { button } from '../ui/toolkit';
import type { ViewContext } from '../view';
import { blockSizesOf, overheadChart, rooflineChart, type Shown, tailOf } from './charts';
import type { CpuReference } from './cpu';
import { PUBLISHED } from './published';
import { adapterName, advice, headline, percentText, ratioText, rowName } from './words';

export interface Results {
  readonly element: HTMLElement;
  draw(shown: Omit<Shown, 'summary'>): void;
  reference(reference: CpuReference): void;
  clear(): void;
  redraw(): void;
}

export function resultsPanel({ host, say }: ViewContext): Results {
  const overhead = overheadChart();
  const roofline = rooflineChart();
  const body = el('div', {});
  const canvasOf = (chart: HTMLElement) => () => chart.querySelector('canvas') ?? undefined;
  let drawn = false;

  const saveJson = async ({ result }: Shown): Promise<void> => {
    const content = `${JSON.stringify(result, undefined, 2)}\n`;
    const params = { name: 'kernel-benchmark', type: 'json' as const, content, base64: false };
    const reply = await host.ask('save', params, PERSON);
    say(reply.ok ? '' : reply.error);
  };

  return {
    element: body,
    draw(given) {
      const { title, text } = headline(given.result);
      const shown: Shown = { ...given, summary: `${title}. ${text}` };
      const { result, study } = shown;
      drawn = result.rows.length > 0;
      const advised = advice(result, study);
      body.replaceChildren(
        el('h2', {}, title),
        el('p', { class: 'detail' }, text),
        ...(advised ? [el('p', { class: 'advice' }, advised)] : []),
        ...notes(shown),
        ...(drawn
          ? [
              section(
                'The trade-off of the block size',
                exportButtons(
                  host,
                  { name: 'block-size-trade-off', png: canvasOf(overhead.element), csv: () => tradeOffCsv(shown) },
                  say,
                ),
                legend(),
                overhead.element,
                twin('The same as a table', tradeOffTable(shown)),
              ),
              section(
                'Share of the roofline',
                exportButtons(
                  host,
                  { name: 'roofline', png: canvasOf(roofline.element), csv: () => csvOf(rowsOf(shown)) },
                  say,
                ),
                roofline.element,
              ),
              section('All that was measured', scroll('All that was measured', rowsTable(shown))),
            ]
          : []),
        section('Published by others, on other machines', published()),
        el(
          'p',
          { class: 'row' },
          button('Save the Result …', () => void saveJson(shown)),
        ),
      );
      if (drawn) {
        overhead.draw(shown);
        roofline.draw(shown);
      }
    },
    reference({ milliseconds, tokens, paged, same }) {
      drawn = false;
      const table = textTable(
        'The float64 reference by block size',
        ['Tokens in a block', 'Time, contiguous is 1'],
        paged.map(({ blockSize, ratio }) => [String(blockSize), ratioText(ratio)]),
      );
      body.replaceChildren(
        el(
          'h2',
          {},
          same ? 'The reference gives the same output however its blocks lie' : 'The reference disagrees with itself',
        ),
        el(
          'p',
          { class: 'detail' },
          `One step over ${tokens} tokens takes ${milliseconds.toFixed(1)} ms as JavaScript on one CPU core. ` +
            'This shows that paging changes no result; it says nothing of any GPU’s times.',
        ),
        table,
        section('Published by others, on other machines', published()),
      );
    },
    clear() {
      drawn = false;
      body.replaceChildren();
    },
    redraw() {
      if (drawn) {
        overhead.redraw();
        roofline.redraw();
      }
    },
  };
}

const section = (title: string, ...body: Node[]): HTMLElement => el('section', {}, el('h3', {}, title), ...body);

const scroll = (label: string, table: HTMLElement): HTMLElement =>
  el('div', { class: 'scroll', role: 'region', 'aria-label': label, tabindex: 0 }, table);

const published = (): HTMLElement => {
  const box = scroll('Published figures', publishedTable());
  box.classList.add('published');
  return box;
};

const twin = (title: string, table: HTMLElement): HTMLElement =>
  el('details', {}, el('summary', {}, title), scroll(title, table));

const legend = (): HTMLElement =>
  el(
    'ul',
    { class: 'legend' },
    ...[
      ['scattered', 'time, blocks scattered'],
      ['ordered', 'time, blocks in order: the table alone'],
      ['tail', 'memory left empty in last blocks'],
      ['noise', 'contiguous against itself: no difference is told inside'],
    ].map(([kind, text]) => el('li', {}, el('span', { class: `stroke ${kind}`, 'aria-hidden': 'true' }), text ?? '')),
  );

function notes({ result }: Shown): HTMLElement[] {
  const { shape, clock, adapter, date, checks, rounds, drift, noise } = result;
  const clocks = { timestamps: 'the GPU’s own timestamps', cpu: 'the CPU’s clock', wall: 'the wall clock' };
  const quantum = clock.quantumNanoseconds ? `, in steps of ${(clock.quantumNanoseconds / 1000).toFixed(1)} µs` : '';
  const lines = [
    ...result.notes,
    `${adapterName(adapter)}, ${new Date(date).toLocaleString()}.`,
    `${shape.heads} query heads over ${shape.kvHeads} KV heads, head dim ${shape.headDim}, ${shape.dtype}: ` +
      `${shape.sequences} sequences, ${shape.tokens.toLocaleString()} tokens, ${(shape.bytes / 2 ** 20).toFixed(1)} MiB of keys and values.`,
    ...shape.changes,
    `Storing in ${shape.dtype} alone changes an output by ${checks.storage.toExponential(1)} of its largest number; the kernels add ${checks.worst.toExponential(1)}.`,
    ...(rounds > 0 ? [`${rounds} rounds in shuffled order by ${clocks[clock.kind]}${quantum}.`] : []),
    ...(noise ? [`Contiguous against itself: ${ratioText(noise)}.`] : []),
    ...(drift && (drift > 1.1 || drift < 0.9)
      ? [`The second half of the rounds took ${drift.toFixed(2)} × the first: the machine changed its pace.`]
      : []),
  ];
  return [el('ul', { class: 'notes' }, ...lines.map((line) => el('li', {}, line)))];
}

const TRADE_OFF = ['Tokens in a block', 'Blocks scattered', 'Blocks in order', 'Memory left empty'];

function tradeOff(shown: Shown): string[][] {
  const ratio = (blockSize: number, order: 'random' | 'sequential'): string => {
    const row = shown.result.rows.find((r) => r.kind === 'paged' && r.order === order && r.blockSize === blockSize);
    return row ? ratioText(row.ratio) : '';
  };
  return blockSizesOf(shown).map((size) => [
    String(size),
    ratio(size, 'random'),
    ratio(size, 'sequential'),
    percentText(tailOf(shown, size)),
  ]);
}

const tradeOffTable = (shown: Shown): HTMLElement =>
  textTable('Time and memory by block size', TRADE_OFF, tradeOff(shown));
const tradeOffCsv = (shown: Shown): string => csvOf([TRADE_OFF, ...tradeOff(shown)]);

const HEAD = ['What', 'Time, contiguous is 1 [95 %]', 'Real?', 'ms a step', 'GB/s', 'Of reading'];

const rowsOf = ({ result }: Shown): string[][] => [
  HEAD,
  ...result.rows.map((row) => [
    rowName(row),
    ratioText(row.ratio),
    row.kind === 'contiguous' || row.kind === 'again' ? '' : row.real ? 'yes' : 'no difference',
    row.milliseconds.toPrecision(3),
    row.gigabytesPerSecond.toPrecision(3),
    percentText(row.roofline),
  ]),
];

const rowsTable = (shown: Shown): HTMLElement => textTable('All that was measured', HEAD, rowsOf(shown).slice(1));

const publishedTable = (): HTMLElement =>
  textTable(
    'Published figures of paged attention',
    ['Who', 'What', 'Figure', 'Source'],
    PUBLISHED.map(({ who, what, figure, source }) => [
      who,
      what,
      figure,
      el('a', { href: source }, source.replace('https://', '')),
    ]),
  );
