/** What prompts share: of two that are pasted, and of conversations or a trace. */
import './view.css';
import type { PoolPart } from '../../src/dashboard/protocol';
import { el } from '../dom';
import type { DashboardView, ViewContext, ViewMaker } from '../view';
import { createAsker } from './ask';
import type { Rules } from './messages';
import { promptsPanel } from './prompts';
import { sessionsPanel } from './sessions';

type Simulated = Extract<PoolPart, { kind: 'world' }>;

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
  return {
    element: el('div', { class: 'prefix' }, head, prompts.element, sessions.element, missing),
    draw(view) {
      const { pool } = view;
      prompts.draw(pool);
      sessions.element.hidden = pool.kind === 'reason';
      missing.hidden = pool.kind === 'world';
      if (pool.kind === 'world') {
        sessions.draw(rulesOf(pool), pool);
      } else {
        missing.textContent = `${pool.text} What conversations find depends on who comes and goes when, so it is not said here.`;
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

const rulesOf = ({ world, machine, stages, maxLength }: Simulated): Rules => ({ world, machine, stages, maxLength });
