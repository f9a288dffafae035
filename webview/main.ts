/** The page: connects to its host, shows what it sends, asks when something is tried. */
import './main.css';
import type { View } from '../src/dashboard/protocol';
import { el } from './dom';
import { connectHost } from './host';
import { dashboardShell } from './shell';
import { onThemeChange } from './ui/palette';
import { registerControls } from './ui/toolkit';
import { VIEWS } from './views';

registerControls();
const host = connectHost();
const app = document.getElementById('app') ?? document.body;
const trouble = el('p', { class: 'trouble', role: 'alert', hidden: true });
const content = el('div', {}, el('p', { class: 'blank' }, 'Planning …'));
app.replaceChildren(trouble, content);
const shell = dashboardShell(VIEWS, host, say);

function draw(view: View): void {
  say('');
  if (view.kind === 'plan') {
    if (!shell.element.isConnected) {
      content.replaceChildren(shell.element);
    }
    shell.draw(view);
  } else {
    shell.rest();
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
onThemeChange(() => shell.redraw());
host.onShow(draw);
host.ready();
