/** Plans side by side: this launch, others, other engines, older texts. What differs from the first is marked. */
import './view.css';
import type { ComparisonView, Pin, Pinnable } from '../../src/dashboard/protocol';
import { el } from '../dom';
import { PERSON } from '../host';
import { chartPanel } from '../ui/chart-panel';
import { csvOf, exportButtons } from '../ui/export';
import { button, dropdown } from '../ui/toolkit';
import type { DashboardView, ViewContext, ViewMaker } from '../view';
import { barsChart } from './bars';
import { addPin, MOST_PINS, onPins, pinned, relocatePins, removePin, restorePins } from './pins';

export const compareTab: ViewMaker = { id: 'compare', title: 'Compare', make: compareView };

const signs = { good: '✓', unsure: '≈', bad: '✕', unknown: '?' } as const;

function compareView(context: ViewContext, state: unknown): DashboardView {
  const { host, say, keep } = context;
  restorePins(state);
  let shown: ComparisonView | undefined;
  let turn = 0;

  const picker = pickerOf(context);
  const status = el('p', { class: 'note', role: 'status' });
  const table = el('div', { class: 'scroll', role: 'region', 'aria-label': 'Plans side by side', tabindex: 0 });
  const csv = (): string => (shown ? csvOf(rowsOf(shown)) : '');
  const head = el(
    'div',
    { class: 'chart-head' },
    el('h2', {}, 'Side by side'),
    exportButtons(host, { name: 'compared-plans', csv }, say),
  );
  const bars = barsOf(context);
  const element = el(
    'div',
    { class: 'compare' },
    el('h1', {}, 'Compare plans'),
    picker.element,
    status,
    head,
    table,
    bars.element,
  );

  const refresh = async (): Promise<void> => {
    const pins = pinned();
    const mine = ++turn;
    if (pins.length === 0) {
      shown = undefined;
      draw();
      return;
    }
    const reply = await host.ask('compare', { pins: [...pins] });
    if (mine === turn) {
      shown = reply.ok ? reply.result : shown;
      if (reply.ok) {
        relocatePins(pins, reply.result.pins);
        keep();
      }
      say(reply.ok ? '' : reply.error);
      draw();
    }
  };
  const draw = (): void => {
    const count = shown?.columns.length ?? 0;
    status.textContent =
      count === 0
        ? 'Nothing is pinned. Pin this launch as it is, change something on the Capacity tab, and pin it again; or pin another launch, engine or file.'
        : count === 1
          ? 'One plan is pinned: pin another to see how they differ.'
          : '';
    status.hidden = status.textContent === '';
    head.hidden = count === 0;
    table.hidden = count === 0;
    table.replaceChildren(...(shown ? [comparisonTable(shown)] : []));
    bars.draw(shown);
  };
  onPins(() => {
    keep();
    void refresh();
  });
  draw();

  return {
    element,
    draw(view) {
      void picker.refresh(JSON.stringify([view.file, view.launch.title, view.controls.whatIf]));
      void refresh();
    },
    redraw: bars.redraw,
    state: () => [...pinned()],
  };
}

/** What there is to pin, as the host knows it. */
function pickerOf({ host, say }: ViewContext): {
  readonly element: HTMLElement;
  refresh(subject: string): Promise<void>;
} {
  let offered: readonly { readonly text: string; readonly pin: Pin }[] = [];
  let chosen = '0';
  let asked = '';
  const choice = dropdown('What to pin', (value) => {
    chosen = value;
  });
  const pin = (what: Pin | undefined): void => {
    if (what && !addPin(what)) {
      say(
        pinned().length >= MOST_PINS
          ? `No more than ${MOST_PINS} plans are compared at once.`
          : 'It is pinned already.',
      );
    } else {
      say('');
    }
  };
  const add = button('Pin', () => pin(offered[Number(chosen)]?.pin), 'primary');
  const other = button('Another file …', async () => {
    const reply = await host.ask('pickPin', {}, PERSON);
    if (reply.ok) {
      pin(reply.result.pin);
    } else {
      say(reply.error);
    }
  });
  return {
    element: el('section', { class: 'controls pin-controls', 'aria-label': 'Pin plans' }, choice.element, add, other),
    /** Asked anew for another subject alone: the host may have to ask Git. */
    async refresh(subject) {
      if (subject === asked) {
        return;
      }
      asked = subject;
      const reply = await host.ask('pinnable', {});
      if (reply.ok) {
        const before = offered[Number(chosen)]?.text;
        offered = offersOf(reply.result);
        // What was chosen may stand elsewhere now; where it is gone, the launch that is shown is meant.
        chosen = String(
          Math.max(
            0,
            offered.findIndex(({ text }) => text === before),
          ),
        );
        choice.offer(offered.map(({ text }, i) => ({ value: String(i), text })));
        choice.set(chosen, false);
      }
    },
  };
}

const offersOf = ({ launches, engines, revisions }: Pinnable): { text: string; pin: Pin }[] => [
  ...launches.map(({ label, detail, pin }) => ({ text: `${label} · ${detail}`, pin })),
  ...engines.map(({ label, detail, pin }) => ({ text: `${detail} on ${label}`, pin })),
  ...revisions.map(({ label, detail, pin }) => ({ text: `${label} · ${detail}`, pin })),
];

function comparisonTable({ columns, rows }: ComparisonView): HTMLTableElement {
  const heads = columns.map((column, i) => {
    const remove = button('Unpin', () => removePin(i), 'icon', `Unpin ${column.title}, ${column.detail}`);
    return el(
      'th',
      { scope: 'col', 'data-tone': column.tone },
      el(
        'div',
        { class: 'pin' },
        el('span', { class: 'mark', 'aria-hidden': 'true' }, signs[column.tone]),
        el('strong', {}, column.title),
      ),
      el('span', { class: 'note' }, column.detail),
      ...(column.error ? [el('span', { class: 'error' }, column.error)] : []),
      el('div', {}, remove),
    );
  });
  return el(
    'table',
    { class: 'compared' },
    el('caption', { class: 'unseen' }, 'Pinned plans side by side; what differs from the first is marked.'),
    el('thead', {}, el('tr', {}, el('td', {}), ...heads)),
    el(
      'tbody',
      {},
      ...rows.map(({ label, cells }) =>
        el(
          'tr',
          {},
          el('th', { scope: 'row' }, label),
          ...cells.map(({ text, differs }) =>
            differs
              ? el('td', { class: 'differs' }, text, el('span', { class: 'unseen' }, ' (differs)'))
              : el('td', {}, text),
          ),
        ),
      ),
    ),
  );
}

const rowsOf = ({ columns, rows }: ComparisonView): (readonly (string | number)[])[] => [
  ['', ...columns.map(({ title, detail }) => `${title}: ${detail}`)],
  ...rows.map(({ label, cells, numbers, unit }) => [
    unit && numbers ? `${label} (${unit})` : label,
    ...(numbers ? numbers.map((n, i) => n ?? cells[i]?.text ?? '') : cells.map((c) => c.text)),
  ]),
];

function barsOf(context: ViewContext): {
  readonly element: HTMLElement;
  draw(view: ComparisonView | undefined): void;
  redraw(): void;
} {
  const panel = chartPanel(barsChart, context);
  let figure = '';
  let last: ComparisonView | undefined;
  const choice = dropdown('Figure', (value) => {
    figure = value;
    draw(last);
  });
  const draw = (view: ComparisonView | undefined): void => {
    last = view;
    const numeric = view?.rows.filter((r) => r.numbers?.some((n) => n !== null)) ?? [];
    const row = numeric.find((r) => r.label === figure) ?? numeric[0];
    const worthwhile = view !== undefined && view.columns.length > 1 && row !== undefined;
    choice.element.hidden = !worthwhile;
    if (!worthwhile) {
      panel.draw(undefined);
      return;
    }
    choice.offer(numeric.map((r) => ({ value: r.label, text: r.label })));
    choice.set(row.label, false);
    const one = view.columns.every(({ title }) => title === view.columns[0]?.title);
    const bars = view.columns.map(({ title, detail }, i) => ({
      label: one ? detail : `${title}: ${detail}`,
      value: row.numbers?.[i] ?? null,
    }));
    const summary = `${row.label}: ${view.columns.map((c, i) => `${c.title} ${row.cells[i]?.text ?? ''}`).join(', ')}.`;
    panel.draw({ summary, figure: row.label, unit: row.unit, bars });
  };
  return { element: el('div', { class: 'compare-bars' }, choice.element, panel.element), draw, redraw: panel.redraw };
}
