/** The capacity of one launch: the answer first, then what can be tried, then what it rests on. */
import type { FactView, FindingView, PlanView, WhatIf } from '../../src/dashboard/protocol';
import { el } from '../dom';
import { button } from '../ui/toolkit';
import type { DashboardView, ViewContext, ViewMaker } from '../view';
import { budgetPanel } from './budget';
import { controlsPanel } from './controls';
import { requestsPanel } from './requests';

interface Actions {
  onReveal(line: number): void;
}

export const capacityTab: ViewMaker = { id: 'capacity', title: 'Capacity', make: capacityView };

/** A shape for each tone: colour is never alone. */
const signs = { good: '✓', unsure: '≈', bad: '✕', unknown: '?' } as const;
const marks = { error: '✕', warning: '!', information: 'i', hint: '·' } as const;
const kinds = { error: 'Error', warning: 'Warning', information: 'Note', hint: 'Hint' } as const;

function capacityView({ host, show, say }: ViewContext): DashboardView {
  const actions: Actions = { onReveal: (line) => host.run('reveal', line) };
  const attempt = async (whatIf: WhatIf): Promise<void> => {
    const reply = await host.ask('whatIf', { whatIf });
    const view = reply.ok ? reply.result.view : undefined;
    if (view?.kind === 'plan') {
      say('');
      show(view);
    } else {
      say(view?.text ?? (reply.ok ? '' : reply.error));
    }
  };
  const place = el('p', { class: 'place' });
  const sign = el('span', { class: 'sign', 'aria-hidden': 'true' });
  const headline = el('h1', { id: 'headline' });
  const detail = el('p', { class: 'detail' });
  const head = el('header', { class: 'head' }, sign, el('div', { role: 'status' }, headline, detail));
  const controls = controlsPanel((whatIf) => void attempt(whatIf));
  const facts = el('dl', { class: 'facts' });
  const budget = budgetPanel();
  const requests = requestsPanel();
  const missing = el('p', { class: 'missing' });
  const budgetSection = section('Memory of one GPU', budget.element);
  const requestsSection = section('Requests that fit, by their length', requests.element);
  const findingList = el('ul', { class: 'findings' });
  const findingsSection = section('Findings', findingList);
  const foot = el(
    'footer',
    {},
    button('Show Capacity Report', () => host.run('showReport')),
  );
  const element = el(
    'div',
    { class: 'capacity' },
    place,
    head,
    controls.element,
    facts,
    missing,
    budgetSection,
    requestsSection,
    findingsSection,
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
      controls.set(view.controls);
      facts.replaceChildren(...view.facts.map(factElement));
      facts.hidden = view.facts.length === 0;
      missing.textContent = view.missing ?? '';
      missing.hidden = view.missing === undefined;
      budgetSection.hidden = view.budget === undefined;
      requestsSection.hidden = view.requests === undefined;
      if (view.budget) {
        budget.draw(view.budget);
      }
      if (view.requests) {
        requests.draw(view.requests);
      }
      findingList.replaceChildren(...view.findings.map((finding) => findingElement(finding, actions)));
      findingsSection.hidden = view.findings.length === 0;
    },
    redraw() {
      budget.redraw();
      requests.redraw();
    },
  };
}

/** A live region speaks when its text changes: the same text again is no change. */
function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) {
    element.textContent = text;
  }
}

const section = (title: string, body: HTMLElement): HTMLElement => el('section', {}, el('h2', {}, title), body);

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
