/** The capacity of one launch: the answer first, then what can be tried, then what it rests on. */
import './view.css';
import type { FactView, FindingView, Params, PlanView, WhatIf } from '../../src/dashboard/protocol';
import { addPin } from '../compare/pins';
import { el } from '../dom';
import { type Answer, PERSON } from '../host';
import { chartPanel } from '../ui/chart-panel';
import { button } from '../ui/toolkit';
import type { DashboardView, ViewContext, ViewMaker } from '../view';
import { blocksChart } from './blocks';
import { budgetChart } from './budget';
import { controlsPanel } from './controls';
import { heatChart } from './heat';
import { longestChart } from './longest';
import { requestsChart } from './requests';
import { wasteChart } from './waste';

interface Actions {
  onReveal(line: number): void;
}

export const capacityTab: ViewMaker = { id: 'capacity', title: 'Capacity', make: capacityView };

/** A shape for each tone: colour is never alone. */
const signs = { good: '✓', unsure: '≈', bad: '✕', unknown: '?' } as const;
const marks = { error: '✕', warning: '!', information: 'i', hint: '·' } as const;
const kinds = { error: 'Error', warning: 'Warning', information: 'Note', hint: 'Hint' } as const;

function capacityView(context: ViewContext): DashboardView {
  const { host, show, say } = context;
  const actions: Actions = { onReveal: (line) => host.run('reveal', line) };
  const place = el('p', { class: 'place' });
  const sign = el('span', { class: 'sign', 'aria-hidden': 'true' });
  const headline = el('h1', { id: 'headline' });
  const detail = el('p', { class: 'detail' });
  const head = el('header', { class: 'head' }, sign, el('div', { role: 'status' }, headline, detail));
  const facts = el('dl', { class: 'facts' });
  const missing = el('p', { class: 'missing' });
  const findingList = el('ul', { class: 'findings' });
  const findings = el('section', {}, el('h2', {}, 'Findings'), findingList);
  const charts = chartsOf(context);

  /** Shows what an answer of the host shows, or says what went wrong. */
  const take = (answer: Answer<'whatIf' | 'apply'>): void => {
    const view = answer.ok ? answer.result.view : undefined;
    if (view?.kind === 'plan') {
      say('');
      show(view);
    } else {
      say(view?.text ?? (answer.ok ? '' : answer.error));
    }
  };
  /** Tries that wait for their answer. Until the last one has it, the fields are the person's. */
  let trying = 0;
  const attempt = async (whatIf: WhatIf): Promise<void> => {
    trying++;
    const answer = await host.ask('whatIf', { whatIf });
    trying--;
    if (trying === 0) {
      take(answer);
    }
  };
  const controls = controlsPanel({
    onTry: (whatIf) => void attempt(whatIf),
    onApply: async () => take(await host.ask('apply', {})),
    onPin: () => void pinShown(context),
  });
  const saveReport = async (): Promise<void> => {
    const reply = await host.ask('saveReport', { charts: charts.pictures() }, PERSON);
    say(reply.ok ? '' : reply.error);
  };
  const foot = el(
    'footer',
    {},
    button('Show Capacity Report', () => host.run('showReport')),
    button('Save as HTML', () => void saveReport(), 'secondary', 'Save this launch and its charts as one HTML file'),
  );
  const element = el(
    'div',
    { class: 'capacity' },
    place,
    head,
    controls.element,
    facts,
    missing,
    findings,
    charts.element,
    foot,
  );

  return {
    element,
    draw(view) {
      place.replaceChildren(...placeOf(view, actions));
      head.dataset.tone = view.headline.tone;
      sign.textContent = signs[view.headline.tone];
      setText(headline, view.headline.text);
      setText(detail, view.headline.detail);
      if (trying === 0) {
        controls.set(view.controls);
      }
      facts.replaceChildren(...view.facts.map(factElement));
      facts.hidden = view.facts.length === 0;
      missing.textContent = view.missing ?? '';
      missing.hidden = view.missing === undefined;
      findingList.replaceChildren(...view.findings.map((finding) => findingElement(finding, actions)));
      findings.hidden = view.findings.length === 0;
      charts.draw(view);
    },
    redraw: charts.redraw,
  };
}

/** The launch as it is tried now, among the plans that are compared. */
async function pinShown({ host, say, openTab }: ViewContext): Promise<void> {
  const reply = await host.ask('pinnable', {});
  const pin = reply.ok ? reply.result.launches[0]?.pin : undefined;
  if (pin) {
    addPin(pin);
    openTab('compare');
  } else {
    say(reply.ok ? '' : reply.error);
  }
}

interface Charts {
  readonly element: HTMLElement;
  draw(view: PlanView): void;
  redraw(): void;
  pictures(): Params<'saveReport'>['charts'];
}

/** Those of the plan at once; those that take plans of their own when the host has made them. */
function chartsOf({ host, say }: ViewContext): Charts {
  const context = { host, say };
  const budget = chartPanel(budgetChart, context);
  const requests = chartPanel(requestsChart, context);
  const waste = chartPanel(wasteChart, context);
  const longest = chartPanel(longestChart, context);
  const heat = chartPanel(heatChart, context);
  const blocks = chartPanel(blocksChart, context);
  const all = [budget, requests, waste, heat, longest, blocks];
  const status = el('p', { class: 'note', role: 'status' });
  const element = el('div', { class: 'charts' }, ...all.map((panel) => panel.element), status);
  let turn = 0;

  const study = async (): Promise<void> => {
    const mine = ++turn;
    element.setAttribute('aria-busy', 'true');
    const reply = await host.ask('studies', {});
    if (mine !== turn) {
      return; // something newer is on its way
    }
    element.setAttribute('aria-busy', 'false');
    const made = reply.ok ? reply.result : undefined;
    waste.draw(made?.waste);
    heat.draw(made?.heat);
    longest.draw(made?.longest);
    blocks.draw(made?.blocks);
    setText(status, reply.ok ? reply.result.missing.join(' ') : reply.error);
  };

  return {
    element,
    draw(view) {
      budget.draw(view.budget);
      requests.draw(view.requests);
      void study();
    },
    redraw() {
      for (const panel of all) {
        panel.redraw();
      }
    },
    pictures: () => all.flatMap((panel) => panel.picture() ?? []),
  };
}

/** A live region speaks when its text changes: the same text again is no change. */
function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) {
    element.textContent = text;
  }
}

function placeOf({ file, launch }: PlanView, { onReveal }: Actions): (Node | string)[] {
  const link = lineLink(`${file}:${launch.line}`, launch.line, onReveal);
  return [el('strong', {}, launch.title), ' ', link, el('span', { class: 'subject' }, launch.subject)];
}

function lineLink(text: string, line: number, onReveal: (line: number) => void): HTMLElement {
  const link = el('button', { class: 'link', type: 'button', title: 'Show in the file' }, text);
  link.addEventListener('click', () => onReveal(line));
  return link;
}

const factElement = ({ label, value, range, note }: FactView): HTMLElement =>
  el(
    'div',
    { class: 'fact' },
    el('dt', {}, label),
    el(
      'dd',
      {},
      el('span', { class: 'value' }, value),
      ...(range ? [el('span', { class: 'range' }, range)] : []),
      el('span', { class: 'note' }, note),
    ),
  );

function findingElement({ severity, message, code, line }: FindingView, { onReveal }: Actions): HTMLElement {
  return el(
    'li',
    { 'data-severity': severity },
    el(
      'span',
      { class: 'kind' },
      el('span', { class: 'mark', 'aria-hidden': 'true' }, marks[severity]),
      kinds[severity],
    ),
    el('span', { class: 'message' }, message, ' ', el('code', {}, code)),
    lineLink(`line ${line}`, line, onReveal),
  );
}
