/** The step to measure: the launch's, or by hand. */
import { el } from '../dom';
import { button, dropdown, type Field, numberField } from '../ui/toolkit';
import type { Asked } from './fit';

export interface ShapeControls {
  readonly element: HTMLElement;
  /** The launch's shape, if it has one: shown wherever nothing was set by hand. */
  follow(launch: Asked | undefined): void;
  asked(): Asked;
  /** What was set by hand. */
  state(): Partial<Asked>;
}

const NUMBERS = ['heads', 'kvHeads', 'prompt', 'output'] as const;
const LABELS = {
  heads: 'Query heads',
  kvHeads: 'KV heads',
  prompt: 'Prompt tokens',
  output: 'Output tokens',
  headDim: 'Head dim',
  dtype: 'KV dtype',
  blockSize: 'Block size',
} as const;
type Key = keyof typeof LABELS;
const MOST: Readonly<Record<(typeof NUMBERS)[number], number>> = {
  heads: 1024,
  kvHeads: 1024,
  prompt: 10_000_000,
  output: 10_000_000,
};
const CHOICES = {
  headDim: ['64', '128', '256'],
  dtype: ['f32', 'f16', 'int8'],
  blockSize: ['1', '2', '4', '8', '16', '32', '64', '128', '256'],
} as const;

export function shapeControls(kept: unknown, onChange: () => void): ShapeControls {
  let launch: Asked | undefined;
  let own: Partial<Asked> = readOwn(kept);
  const change = (key: Key, value: string): void => {
    own = { ...own, [key]: key === 'dtype' ? value : Number(value) };
    show();
    onChange();
  };
  const fields = new Map<Key, Field>();
  for (const key of NUMBERS) {
    const commit = (value: string): void =>
      change(key, value === '' ? String(launch?.[key] ?? 1) : String(Math.min(MOST[key], Number(value))));
    fields.set(key, numberField(LABELS[key], commit, key === 'output' ? 0 : 1));
  }
  const lists = (['headDim', 'dtype', 'blockSize'] as const).map((key) => {
    const field = dropdown(LABELS[key], (value) => change(key, value));
    fields.set(key, field);
    return { key, field };
  });
  const reset = button('Reset Shape', () => {
    own = {};
    show();
    onChange();
  });
  const resetRow = el('p', { class: 'row' }, reset);

  const asked = (): Asked => ({ ...FALLBACK, ...launch, ...own });
  const show = (): void => {
    const now = asked();
    for (const { key, field } of lists) {
      // What the launch has is offered too, as it is called there.
      const values = [...new Set([...CHOICES[key], String(now[key])])];
      field.offer(values.map((value) => ({ value, text: value })));
    }
    for (const [key, field] of fields) {
      field.set(String(now[key]), own[key] !== undefined);
    }
    resetRow.hidden = Object.keys(own).length === 0;
  };
  show();
  return {
    element: el(
      'div',
      { class: 'controls' },
      el('div', { class: 'fields even' }, ...[...fields.values()].map(({ element }) => element)),
      resetRow,
    ),
    follow(next) {
      launch = next;
      show();
    },
    asked,
    state: () => own,
  };
}

/** Where no launch gives a shape: Llama 3 8B's, a common one. */
const FALLBACK: Asked = {
  heads: 32,
  kvHeads: 8,
  headDim: 128,
  dtype: 'f16',
  blockSize: 16,
  prompt: 600,
  output: 250,
};

/** Of what a page kept, only what is of the right kind. */
function readOwn(kept: unknown): Partial<Asked> {
  if (typeof kept !== 'object' || kept === null) {
    return {};
  }
  const entries = Object.entries(kept).filter(([key, value]) =>
    key === 'dtype'
      ? typeof value === 'string'
      : key in LABELS && Number.isSafeInteger(value) && (value > 0 || key === 'output'),
  );
  return Object.fromEntries(entries);
}
