/** What prompts share: of two that are pasted, and of conversations or a trace. */
import './view.css';
import type { PlanView } from '../../src/dashboard/protocol';
import { el } from '../dom';
import type { DashboardView, ViewContext, ViewMaker } from '../view';
import { createAsker } from './ask';
import type { Rules } from './messages';
import { promptsPanel } from './prompts';
import { sessionsPanel } from './sessions';

export const prefixTab: ViewMaker = { id: 'prefix', title: 'Prefix', make: prefixView };

function prefixView(context: ViewContext, kept: unknown): DashboardView {
  const asker = createAsker();
  const before = (kept ?? {}) as { readonly prompts?: unknown; readonly sessions?: unknown };
  const prompts = promptsPanel(asker, context, before.prompts);
  const sessions = sessionsPanel(asker, context, before.sessions);
  const missing = el('p', { class: 'missing' });
  const head = el(
    'header',
    { class: 'view-head' },
    el('h1', {}, 'What prompts share'),
    el(
      'p',
      { class: 'caption' },
      'A prefix cache keeps the blocks of earlier prompts: a prompt that begins alike is not computed again.',
    ),
  );
  const body = el('div', {}, prompts.element, sessions.element);
  return {
    element: el('div', { class: 'prefix' }, head, missing, body),
    draw(view) {
      const rules = rulesOf(view);
      missing.hidden = rules !== undefined;
      missing.textContent = view.pool.kind === 'reason' ? view.pool.text : '';
      body.hidden = rules === undefined;
      if (rules && view.pool.kind === 'world') {
        prompts.draw(rules, view.pool);
        sessions.draw(rules, view.pool);
      }
    },
    redraw() {},
    shown(visible) {
      if (!visible) {
        asker.stop();
      }
    },
    state: () => ({ prompts: prompts.state(), sessions: sessions.state() }),
  };
}

function rulesOf({ pool }: PlanView): Rules | undefined {
  return pool.kind === 'world'
    ? { world: pool.world, machine: pool.machine, stages: pool.stages, maxLength: pool.maxLength }
    : undefined;
}
