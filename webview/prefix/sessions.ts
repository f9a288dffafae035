/** Conversations, made here or read from a trace: what the cache finds, what that saves, and what to do between turns. */
import type { MissReason } from '../../src/core/pool';
import { el, textTable } from '../dom';
import { traceLoader } from '../trace-file';
import type { TraceFile } from '../trace-reader';
import { csvOf, exportButtons } from '../ui/export';
import { button, type Field, numberField } from '../ui/toolkit';
import type { ViewContext } from '../view';
import type { Asker } from './ask';
import type { ReplyTo, Rules, TrafficAsked } from './messages';
import { ADVICE, n, percent, REASONS, seconds } from './words';

const KEYS = ['requests', 'turns', 'think', 'system', 'rate'] as const;
type Key = (typeof KEYS)[number];

const LABELS: Readonly<Record<Key, string>> = {
  requests: 'Requests',
  turns: 'Turns each',
  think: 'Seconds between turns',
  system: 'System prompt tokens',
  rate: 'New per second',
};
const DEFAULTS: Readonly<Record<Key, number>> = { requests: 400, turns: 5, think: 30, system: 400, rate: 2 };
const LEAST: Readonly<Record<Key, 0 | 1>> = { requests: 1, turns: 1, think: 0, system: 0, rate: 1 };
/** What a page answers in seconds. */
const MOST: Readonly<Record<Key, number>> = { requests: 20_000, turns: 1000, think: 1e6, system: 1e7, rate: 1e6 };
const SEED = 1;

interface SessionsPanel {
  readonly element: HTMLElement;
  draw(rules: Rules, lengths: { readonly prompt: number; readonly output: number }): void;
  state(): unknown;
}

type Served = ReplyTo<{ kind: 'traffic'; rules: Rules; traffic: TrafficAsked }>;

export function sessionsPanel(asker: Asker, context: ViewContext, kept: unknown): SessionsPanel {
  const { keep } = context;
  const values = readValues(kept);
  let now: { readonly rules: Rules; readonly prompt: number; readonly output: number } | undefined;
  let trace: TraceFile | undefined;
  let asked = 0;
  const answer = el('div', { role: 'status' });
  const source = el('p', { class: 'caption' });

  const fields = new Map<Key, Field>(
    KEYS.map((key) => [
      key,
      numberField(
        LABELS[key],
        (value) => {
          values[key] = Math.min(MOST[key], value === '' ? DEFAULTS[key] : Number(value));
          fields.get(key)?.set(String(values[key]), false);
          keep();
          void run();
        },
        LEAST[key],
      ),
    ]),
  );
  const loader = traceLoader(context);
  const load = button('Load a trace …', () => void open());
  const drop = button('Use Conversations', () => {
    trace = undefined;
    void run();
  });

  const open = async (): Promise<void> => {
    const file = await loader.open();
    if (file) {
      trace = file;
      void run();
    }
  };

  const run = async (): Promise<void> => {
    if (!now) {
      return;
    }
    const { rules, prompt, output } = now;
    const mine = ++asked;
    drop.hidden = trace === undefined;
    const told = trace
      ? `Requests of ${trace.name}.`
      : `Each turn asks ${n(prompt)} tokens and gets ${n(output)}; what was said before is its prompt too.`;
    source.textContent = told;
    answer.setAttribute('aria-busy', 'true');
    const pace = { rate: values.rate, think: values.think, seed: SEED };
    const traffic: TrafficAsked = trace
      ? { kind: 'trace', file: trace, ...pace }
      : {
          kind: 'talks',
          requests: values.requests,
          turns: values.turns,
          system: values.system,
          prompt,
          output,
          ...pace,
        };
    try {
      const served = await asker.ask({ kind: 'traffic', rules, traffic }, (share) => {
        source.textContent = `Requests of ${trace?.name}: ${Math.floor(100 * share)} % read.`;
      });
      if (served) {
        source.textContent = told;
        answer.replaceChildren(...servedElements(served, rules.machine !== undefined, context));
      }
    } catch (error) {
      answer.replaceChildren(el('p', { class: 'missing' }, error instanceof Error ? error.message : String(error)));
    } finally {
      if (mine === asked) {
        answer.setAttribute('aria-busy', 'false');
      }
    }
  };

  return {
    element: el(
      'section',
      {},
      el('h2', {}, 'Conversations'),
      el(
        'div',
        { class: 'controls' },
        el('div', { class: 'fields even' }, ...[...fields.values()].map((f) => f.element)),
      ),
      el('div', { class: 'row' }, load, drop, loader.element),
      source,
      answer,
    ),
    draw(rules, { prompt, output }) {
      now = { rules, prompt, output };
      for (const [key, field] of fields) {
        field.set(String(values[key]), false);
      }
      void run();
    },
    state: () => values,
  };
}

function readValues(kept: unknown): Record<Key, number> {
  const before = (kept ?? {}) as Partial<Record<Key, unknown>>;
  const value = (key: Key): number => {
    const given = before[key];
    return typeof given === 'number' && given >= LEAST[key] && given <= MOST[key] ? given : DEFAULTS[key];
  };
  return {
    requests: value('requests'),
    turns: value('turns'),
    think: value('think'),
    system: value('system'),
    rate: value('rate'),
  };
}

function servedElements(served: Served, timed: boolean, { host, say }: ViewContext): HTMLElement[] {
  const { prefix, requests, preemptions, firstToken, residency, notes } = served;
  const faster =
    timed && firstToken.without > 0
      ? `estimated ${seconds(firstToken.with)} with the prefix cache, ${seconds(firstToken.without)} without (median)`
      : 'not known: the speed of the GPU is not';
  const rows: [string, string][] = [
    ['Found', `${percent(prefix.rate)} of ${n(prefix.promptTokens)} prompt tokens`],
    ['Time to first token', faster],
    [
      'Served',
      `${n(requests.finished)} of ${n(requests.all)} requests${requests.rejected > 0 ? `, ${n(requests.rejected)} refused` : ''}`,
    ],
    ['Preempted', preemptions === 0 ? 'never' : `${n(preemptions)} times`],
  ];
  return [
    el('p', { class: 'answer' }, `${percent(prefix.rate)} of all prompt tokens are found in the cache.`),
    textTable('What the cache finds', [], rows),
    ...reasonTable(prefix.reasons),
    ...residencyTable(residency, host, say),
    ...notes.map((note) => el('p', { class: 'note' }, note)),
  ];
}

function reasonTable(reasons: Served['prefix']['reasons']): HTMLElement[] {
  const rows = Object.entries(reasons ?? {})
    .filter(([, { requests }]) => requests > 0)
    .sort(([, a], [, b]) => b.tokens - a.tokens)
    .map(([reason, { requests, tokens }]) => [REASONS[reason as MissReason], n(requests), n(tokens)]);
  return rows.length === 0
    ? []
    : [
        el('h3', {}, 'Why no more'),
        textTable('Why no more was found', ['Reason', 'Requests', 'Tokens computed'], rows),
      ];
}

function residencyTable(rows: Served['residency'], host: ViewContext['host'], say: ViewContext['say']): HTMLElement[] {
  if (rows.length === 0) {
    return [];
  }
  const head = [
    'Seconds of thinking',
    'Turns',
    'Still cached',
    'Block-seconds to keep',
    'To compute again',
    'Cheapest',
  ];
  const cells = rows.map((r) => [
    Number.isFinite(r.to) ? `${r.from} to ${r.to}` : `${r.from} and more`,
    n(r.turns),
    percent(r.survival),
    n(r.keepBlockSeconds),
    r.recomputeSeconds === undefined ? 'not known' : `estimated ${seconds(r.recomputeSeconds)}`,
    ADVICE[r.advice],
  ]);
  const csv = () => csvOf([head, ...cells]);
  return [
    el(
      'div',
      { class: 'titled' },
      el('h3', {}, 'Between two turns'),
      exportButtons(host, { name: 'conversations between turns', csv }, say),
    ),
    el('div', { class: 'scroll' }, textTable('What becomes of a conversation between its turns', head, cells)),
  ];
}
