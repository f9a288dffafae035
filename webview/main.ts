/** The page: connects to its host, shows what it sends, asks when something is tried. */
import './main.css';
import type { View, WhatIf } from '../src/dashboard/protocol';
import { type CapacityView, capacityView } from './capacity/view';
import { el } from './dom';
import { connectHost } from './host';
import { onThemeChange } from './ui/palette';
import { registerControls } from './ui/toolkit';

registerControls();
const host = connectHost();
const app = document.getElementById('app') ?? document.body;
const trouble = el('p', { class: 'trouble', role: 'alert', hidden: true });
const content = el('div', {}, el('p', { class: 'blank' }, 'Planning …'));
app.replaceChildren(trouble, content);

let capacity: CapacityView | undefined;

async function attempt(whatIf: WhatIf): Promise<void> {
  const reply = await host.whatIf(whatIf);
  if (reply.ok) {
    draw(reply.view);
  } else {
    say(reply.error);
  }
}

function draw(view: View): void {
  say('');
  if (view.kind === 'plan') {
    capacity ??= capacityView({
      onTry: (whatIf) => void attempt(whatIf),
      onReveal: (line) => host.run('reveal', line),
      onReport: () => host.run('showReport'),
    });
    if (!capacity.element.isConnected) {
      content.replaceChildren(capacity.element);
    }
    capacity.draw(view);
  } else {
    content.replaceChildren(view.kind === 'error' ? failed(view.text) : blank(view.text));
  }
  app.setAttribute('aria-busy', 'false');
  // A mark for whoever waits for the drawn page, a test above all.
  requestAnimationFrame(() => {
    document.body.dataset.view = view.kind;
    document.body.dataset.ready = '1';
  });
}

const blank = (text: string): HTMLElement =>
  el('div', { class: 'blank' }, el('h1', {}, 'No launch to plan'), el('p', {}, text));

const failed = (text: string): HTMLElement =>
  el('div', { class: 'blank', role: 'alert' }, el('h1', {}, 'This launch could not be shown'), el('p', {}, text));

function say(text: string): void {
  trouble.textContent = text;
  trouble.hidden = text === '';
}

window.addEventListener('error', ({ message }) => say(`Something went wrong on this page: ${message}`));
onThemeChange(() => capacity?.redraw());
host.onShow(draw);
host.ready();
